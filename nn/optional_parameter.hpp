#pragma once

#include <optional>

#include "core/tape.hpp"

namespace normlab {

// The parameter on the tape, or nothing for a null pointer (a layer without bias, for instance).
inline std::optional<Var> watch(Tape& tape, Parameter* parameter) {
  if (parameter == nullptr) return std::nullopt;
  return tape.watch(*parameter);
}

}  // namespace normlab
