#pragma once

#include "core/random.hpp"
#include "nn/module.hpp"

namespace normlab {

// In train mode zeroes each element with probability p and multiplies the others by 1 / (1 - p); in
// eval mode the identity. Any shape. As torch.nn.Dropout, but each layer has its own generator,
// seeded by one draw from the given one (none at p = 0), so its random numbers depend on nothing
// else.
class Dropout : public Layer {
 public:
  // Throws std::invalid_argument unless p is in [0, 1].
  Dropout(double p, Generator& generator);

  Var forward(const Var& x) override;

  double p() const { return p_; }
  Generator& generator() { return generator_; }

 private:
  double p_;
  Generator generator_;
};

}  // namespace normlab
