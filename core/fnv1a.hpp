#pragma once

#include <cstdint>
#include <string_view>

namespace normlab {

inline constexpr std::uint64_t kFnv1aStart = 0xcbf29ce484222325;

// 64-bit FNV-1a of the bytes, going on from the hash of those before them. Any one changed byte
// changes it. It guards against accidents, not against intent.
constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t hash = kFnv1aStart) {
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  }
  return hash;
}

}  // namespace normlab
