#pragma once

#include "experiments/gradient_flow/gradient_flow.hpp"
#include "experiments/lab/report/report.hpp"

namespace normlab {

Report report_of(const GradientFlowResult& result, const std::string& command);

}  // namespace normlab
