// docs/layer-norm.md: three placements, three functions.
#include <fmt/format.h>

#include "core/ops/arithmetic.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/layer_norm.hpp"

using namespace normlab;

int main() {
  Tape tape;
  const Var x = tape.constant(Tensor({3}, {1, 2, 6}));
  const auto norm_of = [](const Var& v) { return layer_norm(v, {3}); };
  const auto branch = [](const Var& v) { return square(v); };  // stands for attention or the FFN
  const auto print = [](const char* placement, const Var& y) {
    fmt::print("{:<36} {:.4f}\n", placement, fmt::join(y.value().values(), " "));
  };
  print("post-norm           norm(x + F(x))", norm_of(x + branch(x)));
  print("pre-norm            x + F(norm(x))", x + branch(norm_of(x)));
  print("residual post-norm  x + norm(F(x))", x + norm_of(branch(x)));
}
