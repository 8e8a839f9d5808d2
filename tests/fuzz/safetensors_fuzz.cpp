// Whatever the bytes are, the reader returns what the format allows or throws std::runtime_error;
// and what it returned is written and read again as it is.
#include <cstdint>
#include <cstdlib>
#include <stdexcept>

#include "nn/checkpoint/safetensors.hpp"

using namespace normlab;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Safetensors contents;
  try {
    contents = parse_safetensors({reinterpret_cast<const char*>(data), size}, "input");
  } catch (const std::runtime_error&) {
    return 0;
  }
  const std::string bytes = to_safetensors(contents);
  if (to_safetensors(parse_safetensors(bytes, "own")) != bytes) std::abort();
  return 0;
}
