#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "nn/layers/multihead_attention.hpp"
#include "tests/support/op_checks.hpp"

// What the tests of one layer have in common. The check_ functions hold doctest assertions.
namespace normlab {

// The layer's output, computed on a tape of its own.
Tensor evaluate(Layer& module, const Tensor& x);

// Sets the parameters to random numbers, norm scales around 1 and others around 0. At its initial 0
// or 1 a parameter that the layer ignores would go unnoticed.
void randomize_parameters(Module& module, std::uint64_t seed = 3);

// Checks that the module's parameters have the fixture's names, order and shapes, and sets them to
// its values.
void load_parameters(Module& module, const FixtureCase& fixture);

// Checks the value and the gradients of all inputs and parameters against PyTorch's. f gets all
// inputs of the fixture in their order, masks and indices as constants.
void check_module_fixture(Module& module, const FixtureCase& fixture, const Function& f,
                          double tolerance = 1e-12);

// AttentionMasks from the inputs of a fixture that have these names.
AttentionMasks make_masks(const FixtureCase& fixture, const std::string& attn_mask,
                          const std::string& key_padding_mask);

// Checks the gradients of every parameter and of the input, called "x", against central
// differences; those named in expect_zero must be zero.
void check_module_gradients(Layer& module, const Tensor& x,
                            const std::vector<std::string>& expect_zero = {},
                            double tolerance = 1e-7);

// The layer refuses a random input of this shape with a message that starts so.
void check_input_refused(Layer& layer, const Shape& x, std::string_view message);

// Checks that an input without elements gives a result of this shape, and zero gradients for every
// parameter.
void check_empty_module(Layer& module, const Shape& x, const Shape& result);

}  // namespace normlab
