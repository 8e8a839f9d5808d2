#pragma once

#include <memory>

#include "nn/layers/multihead_attention.hpp"
#include "tests/support/module_checks.hpp"

// Shared by the tests of MultiheadAttention.
namespace normlab {

inline std::unique_ptr<MultiheadAttention> make_attention(const FixtureCase& fixture) {
  Generator generator(1);
  return std::make_unique<MultiheadAttention>(
      fixture.option<std::int64_t>("embed_dim"), fixture.option<std::int64_t>("num_heads"),
      generator, MultiheadAttention::Options{.bias = fixture.option<bool>("bias")});
}

// Width 6, two heads, random parameters.
inline std::unique_ptr<MultiheadAttention> small_attention(
    const MultiheadAttention::Options& options = {}) {
  Generator generator(1);
  auto attention = std::make_unique<MultiheadAttention>(6, 2, generator, options);
  randomize_parameters(*attention);
  return attention;
}

inline Tensor attended(MultiheadAttention& attention, const Tensor& x,
                       const AttentionMasks& masks) {
  Tape tape;
  return attention.attend(tape.constant(x), masks).output.value();
}

}  // namespace normlab
