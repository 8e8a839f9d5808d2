#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace normlab {

// The words of a sentence as Python's str.split() returns them: separated by runs of white space,
// including Unicode's, such as the no-break space. The words are views into the sentence.
std::vector<std::string_view> split_white_space(std::string_view sentence);

// SacreBLEU's tokenization "none": the words, separated by one space.
std::string tokenize_none(std::string_view sentence);

// SacreBLEU's tokenization "13a", which is that of NIST's mteval-v13a.pl; tokens are separated by
// one space:
// 1. "<skipped>" and a hyphen at the end of a line are removed, other line ends become spaces; then
//    &quot; &amp; &lt; &gt; are replaced in this order (so &amp;lt; becomes <);
// 2. each ASCII punctuation character except ' , - . becomes a token of its own;
// 3. a period or comma becomes a token of its own, except between two digits;
// 4. a hyphen after a digit becomes a token of its own.
std::string tokenize_13a(std::string_view sentence);

}  // namespace normlab
