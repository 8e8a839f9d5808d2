// Tested by tests/experiments/lemmas/lemmas_test.cpp and mean_field_test.cpp.
#include "experiments/lab/results/wrapped.hpp"

#include <sstream>

namespace normlab {

std::string wrapped(const std::string& sentence) {
  constexpr std::size_t kColumns = 80;
  std::string text = " ";
  std::size_t column = 1;
  std::istringstream words(sentence);
  for (std::string word; words >> word;) {
    if (column + 1 + word.size() > kColumns) {
      text += "\n ";
      column = 1;
    }
    text += ' ';
    text += word;
    column += 1 + word.size();
  }
  return text + "\n";
}

}  // namespace normlab
