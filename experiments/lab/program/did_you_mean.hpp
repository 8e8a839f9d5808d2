#pragma once

#include <string>
#include <vector>

namespace normlab::lab {

// "; did you mean layernorm?" for the name that is spelled most like `text`, the first of several;
// empty if none is close, which is a third of its letters wrong, missing, too many or swapped.
std::string did_you_mean(const std::string& text, const std::vector<std::string>& names);

}  // namespace normlab::lab
