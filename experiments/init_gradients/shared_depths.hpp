#pragma once

#include <vector>

#include "experiments/untrained/gradients.hpp"

namespace normlab::init_gradients {

// measure_gradients for configurations that differ in nothing but their depth, each in its place;
// bit for bit what each gives by itself. With one seed a shallow stack is the beginning of a deep
// one, so that one forward pass through the deepest serves all of them. Throws
// std::invalid_argument for configurations that differ in more, for none, and for several of
// deepnorm, whose weights and sums depend on the depth.
std::vector<GradientMeasurement> measure_depths(const EncoderModel::Config& config,
                                                const std::vector<Configuration>& configurations,
                                                const Tokens& tokens);

}  // namespace normlab::init_gradients
