#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace normlab {

// The words of a sentence as Python's str.split() cuts it: at every run of white space, that of
// Unicode included (the no-break space, for instance). Views into the sentence.
std::vector<std::string_view> split_white_space(std::string_view sentence);

// SacreBLEU's tokenization "none": the words with one space between.
std::string tokenize_none(std::string_view sentence);

// SacreBLEU's tokenization "13a", that of NIST's mteval-v13a.pl, with one space between tokens:
// 1. "<skipped>" and a hyphen at a line's end are removed, other line ends become spaces; then
//    &quot; &amp; &lt; &gt; become characters, in this order (so &amp;lt; becomes <);
// 2. ASCII punctuation except ' , - . stands alone;
// 3. a point or comma stands alone, except between two digits;
// 4. a dash after a digit stands alone.
std::string tokenize_13a(std::string_view sentence);

}  // namespace normlab
