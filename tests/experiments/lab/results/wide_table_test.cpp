#include <doctest/doctest.h>

#include "experiments/lab/results/results.hpp"

using namespace normlab::lab;

namespace {

// The row of a table of two words of this width, as text.
std::string row_text(std::size_t width) {
  const std::string word(width, 'a');
  const Results results{.title = "",
                        .tables = {{.key = "words",
                                    .title = "",
                                    .columns = {{"first", "first"}, {"second", "second"}},
                                    .rows = {{word, word}}}}};
  const std::string text = to_text(results);
  return text.substr(text.rfind('\n', text.size() - 2) + 1);
}

}  // namespace

TEST_CASE("to_text: columns stand two apart, or one where they would not fit 80 columns") {
  CHECK(row_text(39) == std::string(39, 'a') + "  " + std::string(39, 'a') + "\n");
  CHECK(row_text(40) == std::string(40, 'a') + " " + std::string(40, 'a') + "\n");
}
