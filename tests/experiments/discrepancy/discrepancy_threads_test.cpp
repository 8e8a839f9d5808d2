// Under ThreadSanitizer, too.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/experiments/discrepancy/discrepancy_cases.hpp"

using namespace normlab;

TEST_CASE("run_discrepancy: every cell is the same, bit for bit, for every number of threads") {
  const DiscrepancyOptions options = small_discrepancy();
  const DiscrepancyResult serial = run_discrepancy(options, 1);
  for (const int threads : {2, 3}) {
    CAPTURE(threads);
    const DiscrepancyResult parallel = run_discrepancy(options, threads);
    REQUIRE(parallel.cells.size() == serial.cells.size());
    for (std::size_t i = 0; i < serial.cells.size(); ++i) {
      CHECK(json_of(parallel.cells[i].measured) == json_of(serial.cells[i].measured));
    }
  }
}
