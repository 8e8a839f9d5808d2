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
  Tensor weight{};                   // one factor per class, (classes); none: all 1
};

// -ln softmax(logits)[target] for each row. logits (..., classes): the last axis holds the classes;
// one target per row, in row order. Result: a scalar, or for Reduction::none one loss per row,
// (rows). The mean is over the targets' weights. If every target is ignored, the mean is 0 with
// gradient 0 (PyTorch: NaN), so that an optimizer never steps on it. Throws std::invalid_argument
// naming the position of a target outside [0, classes).
Var cross_entropy(const Var& logits, std::span<const std::int64_t> targets,
                  const CrossEntropyOptions& options = {});

}  // namespace normlab
