// Tested by tests/experiments/lab/program/did_you_mean_test.cpp.
#include "experiments/lab/program/did_you_mean.hpp"

#include <algorithm>

namespace normlab::lab {

namespace {

// The fewest letters to replace, insert, remove or swap with their neighbour (the distance of
// optimal string alignment).
std::size_t edits(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const std::size_t wrong = a[i - 1] == b[j - 1] ? 0 : 1;
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + wrong});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string did_you_mean(const std::string& text, const std::vector<std::string>& names) {
  constexpr std::size_t kLongest =
      100;  // the table of a longer text is large, and it means nothing
  std::string nearest;
  std::size_t fewest = kLongest;
  for (const std::string& name : names) {
    if (text.size() > kLongest) break;
    const std::size_t distance = edits(text, name);
    const std::size_t letters = name.size() - std::min(name.size(), name.find_first_not_of('-'));
    if (distance < fewest && 3 * distance <= letters) {
      fewest = distance;
      nearest = name;
    }
  }
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

}  // namespace normlab::lab
