#pragma once

#include "experiments/gradient_flow.hpp"
#include "experiments/report.hpp"

namespace normlab {

Report report_of(const GradientFlowResult& result, const std::string& command);

}  // namespace normlab
