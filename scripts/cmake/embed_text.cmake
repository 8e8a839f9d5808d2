# cmake -DINPUT=file -DOUTPUT=file.cpp -DFUNCTION=name -P embed_text.cmake
# Writes a C++ file whose `std::string_view normlab::<name>()` is the text of INPUT, byte for byte.
# The literal is cut into adjacent pieces: compilers may limit the length of one (MSVC: 16 KB).
file(READ "${INPUT}" text)
string(FIND "${text}" ")text\"" terminator)
if(NOT terminator EQUAL -1)
  message(FATAL_ERROR "${INPUT} contains )text\", which would end the string literal")
endif()

set(piece_length 12000)
string(LENGTH "${text}" length)
set(literal "")
set(begin 0)
while(begin LESS length)
  string(SUBSTRING "${text}" ${begin} ${piece_length} piece)
  string(APPEND literal "R\"text(${piece})text\"\n")
  math(EXPR begin "${begin} + ${piece_length}")
endwhile()

get_filename_component(name "${INPUT}" NAME)
file(WRITE "${OUTPUT}" "// Generated from ${name}.
#include <string_view>

namespace normlab {

std::string_view ${FUNCTION}();

namespace {
constexpr char kText[] =
${literal};
}  // namespace

std::string_view ${FUNCTION}() { return {kText, sizeof(kText) - 1}; }

}  // namespace normlab
")
