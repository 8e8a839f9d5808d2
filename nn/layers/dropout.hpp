#pragma once

#include "core/random.hpp"
#include "nn/module.hpp"

namespace normlab {

// In train mode zeroes each element with probability p and multiplies the rest by 1 / (1 - p); in
// evaluation the identity. As torch.nn.Dropout, but with a generator of its own, seeded by one draw
// from the given one (none at p = 0), so that a model's dropout depends on nothing else.
class Dropout : public Layer {
 public:
  Dropout(double p, Generator& generator);

  Var forward(const Var& x) override;

  double p() const { return p_; }
  Generator& generator() { return generator_; }

 private:
  double p_;
  Generator generator_;
};

}  // namespace normlab
