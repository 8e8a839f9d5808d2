#pragma once

#include "core/kernels/blas.hpp"
#include "core/tape.hpp"

namespace normlab {

using blas::Transpose;

// Matrix product over the last two axes, y = op(a) op(b), with the axes before them broadcast as
// NumPy's matmul does: (..., m, k) x (..., k, n) -> (..., m, n). An operand may be given as its
// transpose, (..., k, m) or (..., n, k), and is then read in place. Throws std::invalid_argument
// unless both ranks are at least 2 and the shapes fit.
Var matmul(const Var& a, const Var& b, Transpose a_is = Transpose::no,
           Transpose b_is = Transpose::no);

}  // namespace normlab
