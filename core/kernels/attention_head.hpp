#pragma once

#include <cstdint>
#include <vector>

// The arithmetic of attention for one head of one sequence, on plain matrices. It knows nothing of
// the tape, or of how heads lie in memory.
namespace normlab {

// A matrix whose rows are contiguous and `stride` apart.
template <typename T>
struct MatrixView {
  T* data = nullptr;
  std::int64_t rows = 0, columns = 0, stride = 0;

  T* row(std::int64_t i) const { return data + i * stride; }
};
using ConstMatrix = MatrixView<const double>;
using MutableMatrix = MatrixView<double>;

struct HeadInputs {
  ConstMatrix q, k, v;  // (Tq, E), (Tk, E), (Tk, Ev)
  double scale;
  bool causal;
  const double* mask = nullptr;  // (Tq, Tk) read with two strides, 0 where it is repeated
  std::int64_t mask_row = 0, mask_column = 0;
  const double* keep = nullptr;  // (Tq, Tk) dropout factors 0 or 1 / (1 - p); null: no dropout
};

// Memory for a head's intermediate matrices, reused for the next head.
using HeadScratch = std::vector<double>;

// 1. S = scale * Q K^T    2. S += mask    3. P = softmax(S) by rows    4. O = (P * keep) V
// Writes P to `weights` (contiguous) and O to `out`. Pairs of a query and a key that the mask (by
// -infinity) or `causal` forbids take no part, forward or backward: NaN there goes nowhere.
void attention_head_forward(const HeadInputs& in, double* weights, MutableMatrix out,
                            HeadScratch& scratch);

// The steps in reverse. A gradient whose data is null is not computed; the others are overwritten.
// 4. dV = (P * keep)^T dO, dP = (dO V^T) * keep    3. dS = P * (dP - <P, dP>)
// 2. -                                             1. dQ = scale * dS K, dK = scale * dS^T Q
void attention_head_backward(const HeadInputs& in, const double* weights, ConstMatrix dout,
                             MutableMatrix dq, MutableMatrix dk, MutableMatrix dv,
                             HeadScratch& scratch);

}  // namespace normlab
