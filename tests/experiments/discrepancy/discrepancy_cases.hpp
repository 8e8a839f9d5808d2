#pragma once

#include <algorithm>

#include "experiments/discrepancy/discrepancy.hpp"

namespace normlab {

// The same kind of setting, a thousand times cheaper.
inline Setting shrunk(Setting setting) {
  setting.width = setting.width > 64 ? 12 : 8;
  setting.heads = 2;
  setting.sequences = std::min<std::int64_t>(setting.sequences, 4);
  setting.classes = std::min<std::int64_t>(setting.classes, 3 + setting.classes / 10);
  setting.classes = std::min<std::int64_t>(setting.classes, 20);
  return setting;
}

// A run of a fraction of a second; the last rung's deeper cells are computed in two parts.
inline DiscrepancyOptions small_discrepancy() {
  DiscrepancyOptions options;
  Setting first = shrunk(Setting{}), wide = first;
  Setting labels = first;
  labels.labels = Labels::per_token;
  wide.width = 32;
  wide.sequences = 3;
  options.split_from = 2 * 32 * 32;
  options.rungs = {{"first", "", "a start", first},
                   {"labels", "first", "other labels", labels},
                   {"wide", "first", "wider", wide}};
  options.layers = {1, 2};
  options.seeds = {3, 5};
  return options;
}

}  // namespace normlab
