#pragma once

#include <cstdint>
#include <span>

#include "core/tape.hpp"

namespace normlab {

enum class Reduction { mean, sum, none };

// Names and defaults of torch.nn.functional.cross_entropy.
struct CrossEntropyOptions {
  Reduction reduction = Reduction::mean;
  double label_smoothing = 0.0;      // in [0, 1]
  std::int64_t ignore_index = -100;  // targets with this value count for nothing; any integer
  Tensor weight{};                   // one factor per class, (classes); undefined: all 1
};

// -ln softmax(logits)[target] for each row. logits (..., classes): the last axis holds the classes;
// one target per row, in row order. Result: a scalar, or for Reduction::none one loss per row,
// (rows). The mean divides by the sum of the targets' weights. Where that sum is 0, because every
// target is ignored or of a class of weight 0, the mean is 0 with gradient 0 (PyTorch: NaN or
// infinity), so an optimizer never steps on it; with label smoothing the sum may be positive all
// the same. A row of only -infinity has loss +infinity and gradient 0 (softmax.hpp), 0 if it is
// ignored. Accurate for confident rows, whose loss is near 0. Throws std::invalid_argument naming
// the position of a target outside [0, classes).
Var cross_entropy(const Var& logits, std::span<const std::int64_t> targets,
                  const CrossEntropyOptions& options = {});

}  // namespace normlab
