#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/tape.hpp"

namespace normlab {

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
  void collect(const std::string& prefix, std::vector<std::pair<std::string, Parameter*>>& into);

  std::deque<Parameter> parameters_;  // a deque, so that references stay valid as it grows
  std::vector<std::string> parameter_names_;
  std::vector<std::pair<std::string, std::unique_ptr<Module>>> children_;
  bool training_ = true;
  Tap tap_;
  std::vector<std::string> tap_points_;
};

}  // namespace normlab
