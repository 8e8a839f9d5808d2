#pragma once

#include <algorithm>

#include "experiments/discrepancy/discrepancy.hpp"

namespace normlab::discrepancy {

// The same kind of setup, a thousand times cheaper.
inline Setup shrunk(Setup setup) {
  setup.width = setup.width > 64 ? 12 : 8;
  setup.heads = 2;
  setup.sequences = std::min<std::int64_t>(setup.sequences, 4);
  setup.classes = std::min<std::int64_t>(setup.classes, 3 + setup.classes / 10);
  setup.classes = std::min<std::int64_t>(setup.classes, 20);
  return setup;
}

// A run of a fraction of a second; the last ablation's deeper networks are computed in two parts.
inline Options small_discrepancy() {
  Options options;
  Setup first = shrunk(Setup{}), wide = first;
  Setup labels = first;
  labels.labels = Labels::per_token;
  wide.width = 32;
  wide.sequences = 3;
  options.split_from = 2 * 32 * 32;
  options.ablations = {{"first", "", "a start", first},
                       {"labels", "first", "other labels", labels},
                       {"wide", "first", "wider", wide}};
  options.layers = {1, 2};
  options.seeds = {3, 5};
  return options;
}

}  // namespace normlab::discrepancy
