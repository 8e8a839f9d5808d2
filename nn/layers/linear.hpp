#pragma once

#include "core/random.hpp"
#include "nn/module.hpp"

namespace normlab {

// y = x W^T + b, as torch.nn.Linear: x (..., in_features) -> (..., out_features). Weight and bias
// start uniform in +-1/sqrt(in_features).
class Linear : public Layer {
 public:
  struct Options {
    bool bias = true;
  };
  // Throws std::invalid_argument unless both sizes are positive.
  Linear(std::int64_t in_features, std::int64_t out_features, Generator& generator,
         const Options& options);
  Linear(std::int64_t in_features, std::int64_t out_features, Generator& generator)
      : Linear(in_features, out_features, generator, Options{}) {}

  // Throws std::invalid_argument unless the last axis of x is in_features.
  Var forward(const Var& x) override;

  Parameter& weight;          // (out_features, in_features)
  Parameter* bias = nullptr;  // (out_features), or null
};

}  // namespace normlab
