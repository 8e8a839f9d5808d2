// The optimizers that training programs offer, by name.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.hpp"
#include "experiments/lab/training/training.hpp"

namespace normlab {

namespace {

const std::vector<std::pair<std::string, UpdateRule>>& optimizers() {
  static const std::vector<std::pair<std::string, UpdateRule>> all{
      {"sgd", Sgd{.momentum = 0.9}},
      {"adam", Adam{}},
      {"adamw", AdamW{.weight_decay = 0.05}},
      {"radam", RAdam{}}};
  return all;
}

}  // namespace

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const auto& [name, rule] : optimizers()) names.push_back(name);
  return names;
}

UpdateRule update_rule(const std::string& program, const std::string& optimizer) {
  for (const auto& [name, rule] : optimizers()) {
    if (name == optimizer) return rule;
  }
  fail(program, "--optimizer", fmt::format("must be one of {}", fmt::join(optimizer_names(), ", ")),
       optimizer);
}

}  // namespace normlab
