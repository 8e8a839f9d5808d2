#pragma once

#include "experiments/lab/report/report.hpp"
#include "experiments/warmup/warmup.hpp"

namespace normlab {

Report report_of(const WarmupResult& result, const std::string& command);

}  // namespace normlab
