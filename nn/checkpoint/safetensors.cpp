// Writing, and files. Tested by tests/nn/checkpoint/safetensors_test.cpp.
#include "nn/checkpoint/safetensors.hpp"

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <set>
#include <system_error>

#include <nlohmann/json.hpp>

#include "core/atomic_file.hpp"
#include "core/check.hpp"

namespace normlab {

// Numbers are copied byte by byte.
static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

namespace {

using Json = nlohmann::ordered_json;

Json make_header(const Safetensors& contents) {
  Json header = Json::object();
  if (!contents.metadata.empty()) header["__metadata__"] = contents.metadata;
  std::set<std::string> names{"__metadata__"};
  std::uint64_t offset = 0;
  for (const auto& [name, tensor] : contents.tensors) {
    check(names.insert(name).second, "safetensors", "name",
          "must be one of its own, and not __metadata__", name);
    check(tensor.defined(), "safetensors", name, "must be a tensor", "none");
    const std::uint64_t end = offset + static_cast<std::uint64_t>(tensor.numel()) * sizeof(double);
    header[name] = {
        {"dtype", "F64"}, {"shape", tensor.shape().extents()}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  return header;
}

void append_bytes(std::string& to, const void* from, std::size_t size) {
  to.append(static_cast<const char*>(from), size);
}

}  // namespace

std::string to_safetensors(const Safetensors& contents) {
  std::string header;
  try {
    header = make_header(contents).dump();
  } catch (const Json::type_error& error) {
    fail("safetensors", "names and metadata", "must be UTF-8", error.what());
  }
  // Aligns the tensors in a file that is mapped into memory.
  while (header.size() % sizeof(double) != 0) header += ' ';
  const std::uint64_t size = header.size();
  std::string bytes;
  append_bytes(bytes, &size, sizeof size);
  bytes += header;
  for (const auto& [name, tensor] : contents.tensors) {
    append_bytes(bytes, tensor.data(), static_cast<std::size_t>(tensor.numel()) * sizeof(double));
  }
  return bytes;
}

void write_safetensors(const std::string& path, const Safetensors& contents) {
  write_atomically(path, to_safetensors(contents));
}

Safetensors read_safetensors(const std::string& path) {
  const auto fail_reading = [&](int error) {
    fail_file("safetensors", path, "cannot be read: " + std::generic_category().message(error),
              "name an existing file that you may read");
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (file == nullptr) fail_reading(errno);
  std::string bytes;
  char block[1 << 16];
  while (const std::size_t got = std::fread(block, 1, sizeof block, file.get())) {
    bytes.append(block, got);
  }
  if (std::ferror(file.get()) != 0) fail_reading(errno);
  return parse_safetensors(bytes, path);
}

}  // namespace normlab
