// Tested by tests/nn/module_test.cpp.
#include "nn/module.hpp"

#include <algorithm>

#include "core/check.hpp"

namespace normlab {

void Module::collect(const std::string& prefix,
                     std::vector<std::pair<std::string, Parameter*>>& into) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    into.emplace_back(prefix + parameter_names_[i], &parameters_[i]);
  }
  for (auto& [name, child] : children_) child->collect(prefix + name + ".", into);
}

std::vector<std::pair<std::string, Parameter*>> Module::named_parameters() {
  std::vector<std::pair<std::string, Parameter*>> all;
  collect("", all);
  return all;
}

std::vector<Parameter*> Module::parameters() {
  std::vector<Parameter*> all;
  for (const auto& [name, parameter] : named_parameters()) all.push_back(parameter);
  return all;
}

Parameter& Module::parameter(const std::string& name) {
  std::string known;
  for (const auto& [each, found] : named_parameters()) {
    if (each == name) return *found;
    known += (known.empty() ? "" : ", ") + each;
  }
  fail("Module::parameter", "name", "must be one of: " + known, name);
}

void Module::zero_grad() {
  for (Parameter* each : parameters()) each->zero_grad();
}

void Module::train(bool on) {
  training_ = on;
  for (auto& [name, child] : children_) child->train(on);
}

void Module::set_tap(const Tap& tap, const std::vector<std::string>& points) {
  tap_ = tap;
  tap_points_ = points;
  for (auto& [name, child] : children_) {
    if (!tap) {
      child->set_tap({});
      continue;
    }
    child->set_tap([tap, prefix = name + "."](const std::string& inner,
                                              const Var& value) { tap(prefix + inner, value); },
                   points);
  }
}

Parameter& Module::register_parameter(const std::string& name, Tensor value) {
  parameter_names_.push_back(name);
  return parameters_.emplace_back(Parameter{name, std::move(value)});
}

// The names that a tape prints are the ones seen from the outermost module.
void Module::add_child(const std::string& name, std::unique_ptr<Module> child) {
  for (const auto& [inner, each] : child->named_parameters()) each->name = name + "." + inner;
  children_.emplace_back(name, std::move(child));
}

}  // namespace normlab
