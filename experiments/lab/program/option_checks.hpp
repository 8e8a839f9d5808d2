#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/check.hpp"
#include "nn/transformer/placement.hpp"

// What the options of several experiments have to be. Each throws std::invalid_argument that names
// the program and the option.
namespace normlab {

// At least one value, and none twice. twice(value) tells which one came twice.
template <typename T, typename Text>
void check_distinct(const char* program, const char* option, std::vector<T> values, Text twice) {
  check(!values.empty(), program, option, "must name at least one", "none");
  std::sort(values.begin(), values.end());
  const auto found = std::adjacent_find(values.begin(), values.end());
  check(found == values.end(), program, option, "must differ from one another",
        [&] { return twice(*found); });
}

template <typename T>
void check_distinct(const char* program, const char* option, const std::vector<T>& values) {
  check_distinct(program, option, values,
                 [](const T& value) { return fmt::format("{} twice", value); });
}

// The generator knows the low 32 bits of a seed only.
inline void check_seeds(const char* program, const std::vector<std::uint64_t>& seeds) {
  std::vector<std::uint32_t> streams;
  for (std::uint64_t seed : seeds) streams.push_back(static_cast<std::uint32_t>(seed));
  check_distinct(program, "--seeds", streams);
}

inline void check_placements(const char* program, const std::vector<Placement>& placements) {
  check_distinct(program, "--placement", placements,
                 [](Placement placement) { return name(placement) + " twice"; });
}

inline void check_heads(const char* program, std::int64_t width, std::int64_t heads) {
  check(heads >= 1 && width >= 1 && width % heads == 0, program, "--width",
        "must be a positive multiple of --heads",
        [&] { return fmt::format("{} with {} heads", width, heads); });
}

}  // namespace normlab
