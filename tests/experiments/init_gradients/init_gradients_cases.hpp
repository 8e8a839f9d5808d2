#pragma once

#include "experiments/init_gradients/init_gradients.hpp"

namespace normlab::init_gradients {

// A run of a fraction of a second: two seeds, two scales, the table over layers at a depth of its
// own.
inline Options small_run() {
  Options options;
  options.model = {.d_model = 6, .nhead = 2, .dim_feedforward = 5};
  options.images = 2;
  options.seeds = {3, 4294967301};
  options.layers = {1, 3};
  options.profile_layers = 2;
  options.scales = {{"unit", 1.0}, {"half", 0.5}};
  return options;
}

}  // namespace normlab::init_gradients
