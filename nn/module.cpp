// Tested by tests/nn/module_test.cpp.
#include "nn/module.hpp"

#include <algorithm>

#include "core/check.hpp"

namespace normlab {

namespace {

template <typename T>
void append(const std::string& prefix, const std::vector<std::pair<std::string, T>>& from,
            std::vector<std::pair<std::string, T>>& to) {
  for (const auto& [name, value] : from) to.emplace_back(prefix + name, value);
}

}  // namespace

void Module::visit(const std::string& prefix,
                   const std::function<void(const std::string&, Module&)>& f) {
  f(prefix, *this);
  for (auto& [name, child] : children_) child->visit(prefix + name + ".", f);
}

std::vector<std::pair<std::string, Parameter*>> Module::named_parameters() {
  std::vector<std::pair<std::string, Parameter*>> all;
  visit("", [&](const std::string& prefix, Module& module) {
    for (std::size_t i = 0; i < module.parameters_.size(); ++i) {
      all.emplace_back(prefix + module.parameter_names_[i], &module.parameters_[i]);
    }
  });
  return all;
}

std::vector<std::pair<std::string, Hyperparameter>> Module::named_hyperparameters() {
  std::vector<std::pair<std::string, Hyperparameter>> all;
  visit("", [&](const std::string& prefix, Module& module) {
    append(prefix, module.hyperparameters_, all);
  });
  return all;
}

std::vector<std::pair<std::string, Tensor*>> Module::named_buffers() {
  std::vector<std::pair<std::string, Tensor*>> all;
  visit("",
        [&](const std::string& prefix, Module& module) { append(prefix, module.buffers_, all); });
  return all;
}

std::vector<std::pair<std::string, Generator*>> Module::named_generators() {
  std::vector<std::pair<std::string, Generator*>> all;
  visit("", [&](const std::string& prefix, Module& module) {
    append(prefix, module.generators_, all);
  });
  return all;
}

std::vector<Parameter*> Module::parameters() {
  std::vector<Parameter*> all;
  for (const auto& [name, parameter] : named_parameters()) all.push_back(parameter);
  return all;
}

std::vector<std::pair<std::string, Parameter*>> Module::named_aliases() {
  std::vector<std::pair<std::string, Parameter*>> all;
  visit("",
        [&](const std::string& prefix, Module& module) { append(prefix, module.aliases_, all); });
  return all;
}

std::vector<Parameter*> Module::decayed_parameters() {
  std::vector<Parameter*> all;
  visit("", [&](const std::string&, Module& module) {
    all.insert(all.end(), module.decayed_.begin(), module.decayed_.end());
  });
  return all;
}

Parameter& Module::parameter(const std::string& name) {
  std::string known;
  for (const auto& [candidate, parameter] : named_parameters()) {
    if (candidate == name) return *parameter;
    known += (known.empty() ? "" : ", ") + candidate;
  }
  fail("Module::parameter", "name", "must be one of: " + known, name);
}

void Module::zero_grad() {
  for (Parameter* parameter : parameters()) parameter->zero_grad();
}

void Module::train(bool on) {
  training_ = on;
  for (auto& [name, child] : children_) child->train(on);
}

void Module::register_hook(const ForwardHook& hook, const std::vector<std::string>& names) {
  hook_ = hook;
  hook_names_ = names;
  for (auto& [name, child] : children_) {
    if (!hook) {
      child->remove_hook();
      continue;
    }
    child->register_hook(
        [hook, prefix = name + "."](const std::string& inner, const Var& value) {
          hook(prefix + inner, value);
        },
        names);
  }
}

Parameter& Module::register_parameter(const std::string& name, Tensor value, WeightDecay decay) {
  parameter_names_.push_back(name);
  Parameter& parameter = parameters_.emplace_back(Parameter{name, std::move(value)});
  if (decay == WeightDecay::on) decayed_.push_back(&parameter);
  return parameter;
}

// A tape prints names as seen from the outermost module.
void Module::add_child(const std::string& name, std::unique_ptr<Module> child) {
  for (const auto& [inner, parameter] : child->named_parameters()) {
    parameter->name = name + "." + inner;
  }
  children_.emplace_back(name, std::move(child));
}

}  // namespace normlab
