// Tested by tests/nn/optim/optimizer_test.cpp against PyTorch.
#include "nn/optim/optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/check.hpp"

namespace normlab {

namespace {

// A tensor that a rule stores for a parameter, under PyTorch's name.
struct Entry {
  const char* name;
  Tensor Moments::*tensor;
  bool is_square;  // an average of squares, never negative
};

std::vector<Entry> entries(const Sgd& rule) {
  if (rule.momentum == 0.0) return {};
  return {{"momentum_buffer", &Moments::first, false}};
}

template <typename AdamLike>
std::vector<Entry> entries(const AdamLike& rule) {
  std::vector<Entry> all{{"exp_avg", &Moments::first, false},
                         {"exp_avg_sq", &Moments::second, true}};
  if constexpr (requires { rule.amsgrad; }) {
    if (rule.amsgrad) all.push_back({"max_exp_avg_sq", &Moments::largest, true});
  }
  return all;
}

std::vector<Entry> entries(const UpdateRule& rule) {
  return std::visit([](const auto& alternative) { return entries(alternative); }, rule);
}

using ByName = std::map<std::string, Tensor>;

Tensor take(ByName& from, const std::string& name, const Shape& shape) {
  const auto found = from.find(name);
  check(found != from.end(), "Optimizer::load_state", "state", "must hold " + name, "none");
  check_shape("Optimizer::load_state", name, found->second.shape(), shape);
  Tensor tensor = found->second;
  from.erase(found);
  return tensor;
}

Moments take_moments(ByName& from, const Parameter& parameter, const UpdateRule& rule) {
  Moments moments;
  const std::string counter = parameter.name + ".step";
  if (!from.contains(counter)) return moments;  // it has not been updated yet
  const double steps = take(from, counter, {}).item();
  check(steps >= 1.0 && steps <= 0x1p53 && steps == std::floor(steps), "Optimizer::load_state",
        counter, "must be a positive whole number", [&] { return std::to_string(steps); });
  moments.step = static_cast<std::int64_t>(steps);
  for (const Entry& entry : entries(rule)) {
    const std::string name = parameter.name + "." + entry.name;
    const Tensor tensor = take(from, name, parameter.value.shape());
    check(all_finite(tensor), "Optimizer::load_state", name, "must be finite", "NaN or infinity");
    check(!entry.is_square || std::ranges::all_of(tensor.values(), [](double v) { return v >= 0; }),
          "Optimizer::load_state", name, "must not be negative", "a negative number");
    moments.*entry.tensor = tensor;
  }
  return moments;
}

// The whole step is refused before any parameter has changed.
void check_gradient(const Parameter& parameter) {
  check_shape("Optimizer::step", "gradient of " + parameter.name, parameter.grad.shape(),
              parameter.value.shape());
  check(all_finite(parameter.grad), "Optimizer::step", "gradient of " + parameter.name,
        "must be finite (check what clip_grad_norm returns before stepping)", "NaN or infinity");
}

}  // namespace

std::vector<ParameterGroup> groups_without_decay_on_norms(Module& model) {
  ParameterGroup decayed{.parameters = model.decayed_parameters()}, not_decayed;
  not_decayed.weight_decay = 0.0;
  const std::set<const Parameter*> seen(decayed.parameters.begin(), decayed.parameters.end());
  for (Parameter* parameter : model.parameters()) {
    if (!seen.contains(parameter)) not_decayed.parameters.push_back(parameter);
  }
  return {decayed, not_decayed};
}

Optimizer::Optimizer(std::vector<ParameterGroup> groups, UpdateRule rule)
    : groups_(std::move(groups)) {
  std::set<const Parameter*> seen;
  std::set<std::string> names;
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    UpdateRule& own = rules_.emplace_back(rule);
    if (const auto decay = groups_[group].weight_decay) {
      std::visit([&](auto& alternative) { alternative.weight_decay = *decay; }, own);
    }
    check_rule(own);
    for (Parameter* parameter : groups_[group].parameters) {
      check(parameter != nullptr, "Optimizer", "parameters", "must not be null", "a null pointer");
      check(seen.insert(parameter).second, "Optimizer", "parameters",
            "must be in one group each, once", parameter->name);
      check(names.insert(parameter->name).second, "Optimizer", "parameters",
            "must have names of their own", parameter->name);
      slots_.push_back({parameter, group});
    }
  }
}

void Optimizer::step(double lr) {
  check_at_least("Optimizer::step", "lr", lr, 0.0);
  for (const Slot& slot : slots_) {
    if (slot.parameter->grad.defined()) check_gradient(*slot.parameter);
  }
  for (Slot& slot : slots_) {
    if (!slot.parameter->grad.defined()) continue;
    update(rules_[slot.group], lr, *slot.parameter, slot.moments);
  }
}

NamedTensors Optimizer::state() const {
  NamedTensors all;
  for (const Slot& slot : slots_) {
    if (slot.moments.step == 0) continue;
    const std::string& name = slot.parameter->name;
    all.emplace_back(name + ".step", Tensor::scalar(static_cast<double>(slot.moments.step)));
    for (const Entry& entry : entries(rules_[slot.group])) {
      const Tensor& tensor = slot.moments.*entry.tensor;
      if (tensor.defined()) all.emplace_back(name + "." + entry.name, tensor);
    }
  }
  return all;
}

void Optimizer::load_state(const NamedTensors& state) {
  ByName rest(state.begin(), state.end());
  check(rest.size() == state.size(), "Optimizer::load_state", "state", "must hold each name once",
        "a name twice");
  std::vector<Moments> loaded;
  for (const Slot& slot : slots_) {
    loaded.push_back(take_moments(rest, *slot.parameter, rules_[slot.group]));
  }
  check(rest.empty(), "Optimizer::load_state", "state", "must hold nothing else",
        [&] { return rest.begin()->first; });
  for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i].moments = std::move(loaded[i]);
}

}  // namespace normlab
