// docs/layer-norm.md: the variance of a row with a common offset, two ways.
#include <fmt/format.h>

#include "core/ops/layer_norm.hpp"

using namespace normlab;

double centred_variance(const Tensor& x, double mean) {
  double sum = 0.0;
  for (double value : x.values()) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(x.numel());
}

double difference_of_squares(const Tensor& x, double mean) {
  double sum = 0.0;
  for (double value : x.values()) sum += value * value;
  return sum / static_cast<double>(x.numel()) - mean * mean;
}

int main() {
  for (double offset : {0.0, 1e4, 1e8}) {
    const Tensor x({4}, {offset, offset + 0.25, offset + 0.5, offset + 1.25});
    const double mean = offset + 0.5;  // exact
    Tape tape;
    const Tensor y = layer_norm(tape.constant(x), {4}).value();
    fmt::print("offset {:<5g}  centred {:<7g}  E[x^2] - E[x]^2 {:<7g}  layer_norm {:.4f}\n", offset,
               centred_variance(x, mean), difference_of_squares(x, mean),
               fmt::join(y.values(), " "));
  }
}
