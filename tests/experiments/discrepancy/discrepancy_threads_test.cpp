// Under ThreadSanitizer, too.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "experiments/discrepancy/measurement.hpp"
#include "tests/experiments/discrepancy/discrepancy_cases.hpp"

using namespace normlab;
using namespace normlab::discrepancy;

TEST_CASE("discrepancy: every network is the same, bit for bit, for every number of threads") {
  const Options options = small_discrepancy();
  const Measured serial = measure(options, {.threads = 1});
  for (const int threads : {2, 3}) {
    CAPTURE(threads);
    const Measured parallel = measure(options, {.threads = threads});
    REQUIRE(parallel.points.size() == serial.points.size());
    for (std::size_t i = 0; i < serial.points.size(); ++i) {
      CHECK(json_of(parallel.points[i].measured) == json_of(serial.points[i].measured));
    }
  }
}
