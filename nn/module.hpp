#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/random.hpp"
#include "core/tape.hpp"

namespace normlab {

// A value that changes the result and cannot be recovered from parameter names and shapes: an eps,
// a number of heads. Checkpoints store it beside the weights.
using Hyperparameter = std::variant<bool, std::int64_t, double, std::string>;

enum class WeightDecay { off, on };

// Parameters and submodules under PyTorch's names. A module registers its parameters and children
// in its constructor, in PyTorch's order; the base class owns them, and the derived class keeps
// references. Modules are neither copied nor moved.
//
// A module that computes one value from one value is a Layer (below). Modules with other inputs,
// such as a decoder, declare their own `forward`.
class Module {
 public:
  Module() = default;
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // Dotted names relative to this module ("layers.0.linear2.weight"), own parameters before those
  // of the children, each in order of registration.
  std::vector<std::pair<std::string, Parameter*>> named_parameters();
  std::vector<Parameter*> parameters();
  // Throws std::invalid_argument, listing the names there are.
  Parameter& parameter(const std::string& name);
  // Further names under which files may hold a parameter (register_alias).
  std::vector<std::pair<std::string, Parameter*>> named_aliases();
  // Those registered with WeightDecay::on, in the order of named_parameters.
  std::vector<Parameter*> decayed_parameters();

  void zero_grad();

  // All three with dotted names, in the order of named_parameters. Buffers are what `forward`
  // itself changes in train mode (running statistics); generators are what it draws random numbers
  // from.
  std::vector<std::pair<std::string, Hyperparameter>> named_hyperparameters();
  std::vector<std::pair<std::string, Tensor*>> named_buffers();
  std::vector<std::pair<std::string, Generator*>> named_generators();

  // Train mode (the default) or evaluation, for this module and all below: dropout is active in
  // train mode only.
  void train(bool on = true);
  void eval() { train(false); }
  bool training() const { return training_; }

  // A forward hook is called with the dotted name and value of everything that this module and
  // those below observe: "norm1.input", "self_attn.output", ... Each is observed once per forward,
  // in train and in eval mode. A hook does not change what the model computes.
  //
  // `names` selects some values, by the name that the observing module itself uses ("norm1.input",
  // not "layers.0.norm1.input"); the others then cost nothing. Empty: all.
  //
  // A module has one hook: registering another replaces it.
  using ForwardHook = std::function<void(const std::string& name, const Var& value)>;
  void register_hook(const ForwardHook& hook, const std::vector<std::string>& names = {});
  void remove_hook() { register_hook({}); }

 protected:
  // `decay` says whether the parameter is a weight matrix that weight decay may shrink
  // (groups_without_decay_on_norms). Norm weights, biases, gates and scales are not.
  Parameter& register_parameter(const std::string& name, Tensor value,
                                WeightDecay decay = WeightDecay::off);
  void register_hyperparameter(const std::string& name, Hyperparameter value) {
    hyperparameters_.emplace_back(name, std::move(value));
  }
  // To be called by a layer whose equation has changed, so that a checkpoint of the old equation is
  // refused: 2 after the first change. A layer that never calls it has revision 1.
  void register_revision(std::int64_t revision) { register_hyperparameter("revision", revision); }
  // A parameter of this module or one below that is used in two places (tied weights): `name` is
  // the place under which it is not registered. The two must be equal in a file that holds both.
  void register_alias(const std::string& name, Parameter& parameter) {
    aliases_.emplace_back(name, &parameter);
  }
  // Both must be members of the derived class: only their address is kept.
  void register_buffer(const std::string& name, Tensor& buffer) {
    buffers_.emplace_back(name, &buffer);
  }
  void register_generator(const std::string& name, Generator& generator) {
    generators_.emplace_back(name, &generator);
  }
  template <typename M>
  M& register_module(const std::string& name, std::unique_ptr<M> module) {
    M& reference = *module;
    add_child(name, std::move(module));
    return reference;
  }

  // Hands a value to the hook, if one is registered for this name.
  void observe(const char* name, const Var& value) const {
    if (is_observed(name)) hook_(name, value);
  }
  // True if a hook is registered for this name; lets a layer skip computing a value nobody reads.
  bool is_observed(const char* name) const {
    return hook_ && (hook_names_.empty() ||
                     std::find(hook_names_.begin(), hook_names_.end(), name) != hook_names_.end());
  }

 private:
  void add_child(const std::string& name, std::unique_ptr<Module> child);
  // Calls f(prefix, module) for this module and all below, parents first.
  void visit(const std::string& prefix, const std::function<void(const std::string&, Module&)>& f);

  std::deque<Parameter> parameters_;  // a deque, so that references stay valid as it grows
  std::vector<std::string> parameter_names_;
  std::vector<Parameter*> decayed_;
  std::vector<std::pair<std::string, Parameter*>> aliases_;
  std::vector<std::pair<std::string, std::unique_ptr<Module>>> children_;
  std::vector<std::pair<std::string, Hyperparameter>> hyperparameters_;
  std::vector<std::pair<std::string, Tensor*>> buffers_;
  std::vector<std::pair<std::string, Generator*>> generators_;
  bool training_ = true;
  ForwardHook hook_;
  std::vector<std::string> hook_names_;
};

// A module with one input and one output: linear layers, norms, encoder blocks. The header of each
// layer gives the shapes.
class Layer : public Module {
 public:
  virtual Var forward(const Var& x) = 0;
};

}  // namespace normlab
