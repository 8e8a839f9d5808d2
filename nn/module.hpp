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

// What `forward` depends on besides the parameters, and no parameter name or shape shows: an eps, a
// number of heads. Checkpoints keep it beside the weights.
using Fact = std::variant<bool, std::int64_t, double, std::string>;

// Parameters and submodules under PyTorch's names, and a forward computation. A layer registers its
// parameters and children in its constructor, in PyTorch's order; the module owns them, and the
// layer keeps references. Neither copied nor moved.
class Module {
 public:
  Module() = default;
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  virtual Var forward(const Var& x) = 0;

  // Dotted names relative to this module ("layers.0.linear2.weight"), own parameters before those
  // of the children, each in order of registration.
  std::vector<std::pair<std::string, Parameter*>> named_parameters();
  std::vector<Parameter*> parameters();
  // Throws std::invalid_argument, listing the names there are.
  Parameter& parameter(const std::string& name);

  void zero_grad();

  // With dotted names and in the order of named_parameters: facts; what `forward` itself changes in
  // train mode (running statistics); and the generators it draws from.
  std::vector<std::pair<std::string, Fact>> named_facts();
  std::vector<std::pair<std::string, Tensor*>> named_buffers();
  std::vector<std::pair<std::string, Generator*>> named_generators();

  // Train mode (the default) or evaluation, for this module and all below: dropout is active in
  // train mode only.
  void train(bool on = true);
  void eval() { train(false); }
  bool training() const { return training_; }

  // Called with the dotted name and value at every point that a layer shows: "norm1.input",
  // "self_attn.output", ... Each fires once per forward, in train and in eval mode. The model
  // computes the same with and without. An empty function removes it.
  //
  // `points` asks for some only, by the name that the layer itself gives them ("norm1.input", not
  // "layers.0.norm1.input"); the others then cost nothing. Empty: all.
  using Tap = std::function<void(const std::string& name, const Var& value)>;
  void set_tap(const Tap& tap, const std::vector<std::string>& points = {});

 protected:
  Parameter& register_parameter(const std::string& name, Tensor value);
  void register_fact(const std::string& name, Fact fact) { facts_.emplace_back(name, fact); }
  // Members of the layer, which the module refers to and does not own.
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

  // Would show(name, ...) be seen? For values that would have to be computed first.
  bool shows(const char* name) const {
    return tap_ && (tap_points_.empty() ||
                    std::find(tap_points_.begin(), tap_points_.end(), name) != tap_points_.end());
  }
  void show(const char* name, const Var& value) const {
    if (shows(name)) tap_(name, value);
  }

 private:
  void add_child(const std::string& name, std::unique_ptr<Module> child);
  // Calls f(prefix, module) for this module and all below, parents first.
  void visit(const std::string& prefix, const std::function<void(const std::string&, Module&)>& f);

  std::deque<Parameter> parameters_;  // a deque, so that references stay valid as it grows
  std::vector<std::string> parameter_names_;
  std::vector<std::pair<std::string, std::unique_ptr<Module>>> children_;
  std::vector<std::pair<std::string, Fact>> facts_;
  std::vector<std::pair<std::string, Tensor*>> buffers_;
  std::vector<std::pair<std::string, Generator*>> generators_;
  bool training_ = true;
  Tap tap_;
  std::vector<std::string> tap_points_;
};

}  // namespace normlab
