// docs/reproducing.md: the stream of torch.randn(n, generator=g, dtype=torch.float64).
#include <fmt/format.h>

#include "core/random.hpp"

using namespace normlab;

int main() {
  Generator generator(0);
  fmt::print("randn(4)   {:.6f}\n", fmt::join(generator.randn({4}).values(), " "));
  generator.manual_seed(0);
  fmt::print("randn(16)  {:.6f} ...\n",
             fmt::join(generator.randn({16}).values().subspan(0, 4), " "));
  generator.manual_seed((std::uint64_t{1} << 32) + 5);  // only the low 32 bits count
  const double large_seed = generator.normal();
  generator.manual_seed(5);
  fmt::print("seed 2^32 + 5 is seed 5: {}\n", generator.normal() == large_seed);
}
