// The page of warmup. Tested by tests/experiments/warmup_test.cpp.
#include "experiments/warmup_report.hpp"

#include <fmt/format.h>

namespace normlab {

Report report_of(const WarmupResult& result, const std::string& command) {
  (void)result;
  return {"Warmup", command, {}, {}, {}, {}};
}

}  // namespace normlab
