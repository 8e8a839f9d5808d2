#pragma once

#include "core/random.hpp"
#include "core/tape.hpp"

namespace normlab {

// Inverted dropout: each element is kept with probability 1 - p and then multiplied by 1 / (1 - p),
// so that the mean is preserved and evaluation needs no change; otherwise it becomes 0. p = 0
// returns x itself and draws nothing; p = 1 gives zeros.
Var dropout(const Var& x, double p, Generator& generator);

}  // namespace normlab
