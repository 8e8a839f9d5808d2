#pragma once

#include "experiments/report.hpp"
#include "experiments/warmup.hpp"

namespace normlab {

Report report_of(const WarmupResult& result, const std::string& command);

}  // namespace normlab
