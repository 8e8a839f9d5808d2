#pragma once

#include "core/random.hpp"
#include "core/tape.hpp"

namespace normlab {

// Inverted dropout: every element is kept with probability 1 - p and then multiplied by
// 1 / (1 - p), which preserves the mean, so evaluation needs no change; otherwise it becomes 0.
// p = 0 returns x itself and draws nothing; p = 1 gives zeros. Throws std::invalid_argument for p
// outside [0, 1].
Var dropout(const Var& x, double p, Generator& generator);

// The factors it multiplies by: 1 / (1 - p) with probability 1 - p, else 0. p must lie in [0, 1].
Tensor dropout_mask(const Shape& shape, double p, Generator& generator);

}  // namespace normlab
