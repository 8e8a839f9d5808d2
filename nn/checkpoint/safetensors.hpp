#pragma once

#include <map>
#include <string>
#include <string_view>

#include "nn/named_tensors.hpp"

namespace normlab {

// The contents of a safetensors file (https://github.com/huggingface/safetensors, "Format"):
//
//   8 bytes   N, the size of the header, unsigned, little-endian
//   N bytes   a JSON object: name -> {"dtype", "shape", "data_offsets": [begin, end]}, and
//             optionally "__metadata__": text -> text. Starts with {, may end in spaces.
//   the rest  the tensors, row-major and little-endian, without holes or overlaps; offsets count
//             from the end of the header
//
// F64 is written. F64, F32 and I64 are read, all into doubles (I64 for counters, of which PyTorch's
// BatchNorm has one; beyond 2^53 it is refused). NaN and infinity are values like others, written
// and read bit by bit; to refuse them is up to those who know what the tensors are (read_model
// does).
struct Safetensors {
  NamedTensors tensors;  // as read: in the order of their bytes
  std::map<std::string, std::string> metadata{};
};

// The bytes of the file: the same contents give the same bytes. Throws std::invalid_argument for a
// name that is there twice or is "__metadata__", and for text that is not UTF-8.
std::string to_safetensors(const Safetensors& contents);

// The strict reader. Throws std::runtime_error, naming `source` and what is wrong, for anything
// that the format does not allow, duplicate names and unknown keys included, and for a header above
// 100 million bytes, which is where the reference implementation stops, too.
Safetensors parse_safetensors(std::string_view bytes, const std::string& source);

// Written whole or not at all (core/atomic_file.hpp).
void write_safetensors(const std::string& path, const Safetensors& contents);
Safetensors read_safetensors(const std::string& path);

}  // namespace normlab
