#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "nn/layers/multihead_attention.hpp"
#include "tests/support/op_checks.hpp"

// What the tests of one layer have in common. The check_ functions hold doctest assertions.
namespace normlab {

// A layer's output without a tape of one's own.
Tensor evaluate(Layer& module, const Tensor& x);

// Random numbers around 0, norm scales around 1: a parameter at its initial 0 or 1 could be left
// out unnoticed.
void randomize_parameters(Module& module, std::uint64_t seed = 3);

// The module's parameters have the fixture's names, in its order, and its shapes; they get its
// values.
void load_parameters(Module& module, const FixtureCase& fixture);

// The value, the gradient of every input that has one and of every parameter equal PyTorch's. f
// gets all inputs of the fixture in their order, masks and indices as constants.
void check_module_fixture(Module& module, const FixtureCase& fixture, const Function& f,
                          double tolerance = 1e-12);

// The masks of a fixture whose inputs bear these names, in our terms.
AttentionMasks make_masks(const FixtureCase& fixture, const std::string& attn_mask,
                          const std::string& key_padding_mask);

// The gradients of every parameter and of the input, which is called "x", agree with central
// differences; those named in expect_zero are zero.
void check_module_gradients(Layer& module, const Tensor& x,
                            const std::vector<std::string>& expect_zero = {},
                            double tolerance = 1e-7);

// No sequences in, none out: an input without elements gives a result of the shape, and zero
// gradients for every parameter.
void check_empty_module(Layer& module, const Shape& x, const Shape& result);

}  // namespace normlab
