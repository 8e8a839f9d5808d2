#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "core/tensor.hpp"

namespace normlab {

// The random stream of PyTorch's CPU generator in double precision, bit for bit: the same seed
// gives the same numbers in both (docs/reproducing.md explains how the stream is built).
//
// One exception: for uniform numbers in a range other than [0, 1) (`fill_uniform` with bounds, and
// the initializers that use it) PyTorch computes low + (high - low) * u with a fused multiply-add
// on processors that have one; here both operations round, so such a number may differ by one
// rounding.
//
// The engine is the 32-bit Mersenne Twister, whose output the C++ standard fixes; the distributions
// are our own, since the standard leaves theirs to the library. Not for use by two threads at once.
class Generator {
 public:
  explicit Generator(std::uint64_t seed = 0) { manual_seed(seed); }

  // Restarts the stream. As in PyTorch only the low 32 bits of the seed count.
  void manual_seed(std::uint64_t seed);

  std::uint32_t next32() { return static_cast<std::uint32_t>(engine_()); }
  // Two 32-bit draws; the first is the high half.
  std::uint64_t next64();
  // Uniform in [0, 1): the low 53 bits of a 64-bit draw, times 2^-53.
  double uniform();
  // Standard normal. Numbers are drawn in pairs; the second is cached for the next call.
  double normal();

  void fill_uniform(std::span<double> out, double low = 0.0, double high = 1.0);
  void fill_normal(std::span<double> out);

  Tensor rand(Shape shape);
  Tensor randn(Shape shape);
  // 1 with the given probability, else 0.
  Tensor bernoulli(Shape shape, double probability);
  // Integers 0 .. high - 1, from one draw of 32 bits, or of 64 for a high of 2^32 or more.
  std::int64_t randint(std::int64_t high);
  // 0 .. n - 1 in random order.
  std::vector<std::int64_t> permutation(std::int64_t n);

  // The complete state, shape (627); restoring it resumes the stream exactly. set_state throws
  // std::invalid_argument, and changes nothing, for a tensor that is not a state.
  Tensor state() const;
  void set_state(const Tensor& state);

 private:
  std::mt19937 engine_;
  std::optional<double> second_of_pair_;
};

}  // namespace normlab
