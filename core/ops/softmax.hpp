#pragma once

#include "core/tape.hpp"

namespace normlab {

// e^x / sum(e^x) along one axis. A line that is -infinity throughout becomes zeros.
Var softmax(const Var& x, std::int64_t axis = -1);
// x - ln(sum(e^x)) along one axis.
Var log_softmax(const Var& x, std::int64_t axis = -1);

}  // namespace normlab
