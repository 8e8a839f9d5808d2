#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "nn/named_tensors.hpp"

namespace normlab {

// The contents of a safetensors file (https://github.com/huggingface/safetensors, "Format"):
//
//   8 bytes   N, the size of the header, unsigned, little-endian
//   N bytes   a JSON object: name -> {"dtype", "shape", "data_offsets": [begin, end]}, and
//             optionally "__metadata__": text -> text. May have white space before and after it.
//   the rest  the tensors, row-major and little-endian, without holes or overlaps; offsets count
//             from the end of the header
//
// Tensors are written as F64. F64, F32 and I64 are read, all into doubles. (PyTorch's BatchNorm
// stores a counter as I64; integers beyond 2^53 are refused.) NaN and infinity are read and written
// bit by bit: whether they are acceptable depends on what a tensor is for (read_model refuses
// them).
struct Safetensors {
  NamedTensors tensors;  // as read: in the order of their bytes
  std::map<std::string, std::string> metadata{};
  std::set<std::string> single_precision{};  // names of the tensors that were read from F32
};

// The bytes of the file: the same contents give the same bytes. Throws std::invalid_argument for a
// name that occurs twice or is "__metadata__", and for text that is not UTF-8.
std::string to_safetensors(const Safetensors& contents);

// The strict reader. Throws std::runtime_error, naming `source` and what is wrong, for everything
// that the format does not allow, including duplicate names and unknown keys, and for a header
// above 100 million bytes (the limit of the reference implementation).
Safetensors parse_safetensors(std::string_view bytes, const std::string& source);

// The file is written whole or not at all (core/atomic_file.hpp). Both throw std::runtime_error if
// the file system refuses.
void write_safetensors(const std::string& path, const Safetensors& contents);
Safetensors read_safetensors(const std::string& path);

}  // namespace normlab
