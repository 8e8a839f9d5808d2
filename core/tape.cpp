#include "core/tape.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/check.hpp"

namespace normlab {

namespace {

std::shared_ptr<const char> new_epoch() { return std::make_shared<const char>(); }

}  // namespace

Tape& Var::tape() const {
  if (alive_.expired()) {
    fail_misuse("Var", "tape", "must still hold this Var",
                "a Var that outlived its tape's clear() or destruction");
  }
  return *tape_;
}

std::size_t Var::node() const {
  tape();
  if (!needs_grad()) fail_misuse("Var::node", "this", "must be recorded", "a constant");
  return node_;
}

const Tensor& Var::grad() const {
  const Tape::Node& place = tape().nodes_[node()];
  if (!tape_->keeps_gradient(place)) {
    fail_misuse("Var::grad", "this", "must be a leaf, or given to retain_grad() before backward",
                fmt::format("the result of {}", place.op));
  }
  return place.parameter != nullptr ? place.parameter->grad : place.grad;
}

const Var& Var::retain_grad() const {
  tape().nodes_[node()].retain_grad = true;
  return *this;
}

Adjoint::Adjoint(const Var& var) : tape_(var.tape_), node_(var.node_) {}

Adjoint::Adjoint(const std::optional<Var>& var) {
  if (var) *this = Adjoint(*var);
}

void Adjoint::operator+=(Tensor contribution) const {
  if (!*this) return;
  Tape::Node& node = tape_->nodes_[node_];
  if (!contribution.defined() || contribution.shape() != node.shape) {
    fail("backward", "gradient of " + node.op, "must have shape " + node.shape.str(),
         contribution.defined() ? contribution.shape().str() : "no tensor");
  }
  if (node.adjoint.defined()) {
    node.adjoint += contribution;
  } else {
    node.adjoint = std::move(contribution);
  }
}

Tape::Tape() : alive_(new_epoch()) {}

Var Tape::append(Node node, Tensor value) {
  check_idle(node.op);
  nodes_.push_back(std::move(node));
  return Var(std::move(value), *this, nodes_.size() - 1, alive_);
}

Var Tape::constant(Tensor value) {
  check(value.defined(), "Tape::constant", "value", "must be a tensor", "none");
  return Var(std::move(value), *this, Var::kNoNode, alive_);
}

Var Tape::variable(Tensor value) {
  check(value.defined(), "Tape::variable", "value", "must be a tensor", "none");
  Node leaf;
  leaf.op = "variable";
  leaf.shape = value.shape();
  return append(std::move(leaf), std::move(value));
}

Var Tape::watch(Parameter& parameter) {
  check(parameter.value.defined(), "Tape::watch", parameter.name, "must have a value", "none");
  if (!parameter.requires_grad || !recording_) return constant(parameter.value);
  if (const auto found = watched_.find(&parameter); found != watched_.end()) {
    return Var(parameter.value, *this, found->second, alive_);
  }
  Node leaf;
  leaf.op = "parameter";
  leaf.label = parameter.name;
  leaf.shape = parameter.value.shape();
  leaf.parameter = &parameter;
  const Var watched = append(std::move(leaf), parameter.value);
  watched_.emplace(&parameter, watched.node_);
  return watched;
}

Var Tape::record(std::string_view op, Tensor value, const std::vector<Var>& inputs,
                 Backward backward) {
  if (&common_tape(op, inputs) != this) {
    fail_misuse(op, "inputs", "must be on the tape that records", "Vars of another tape");
  }
  check(value.defined(), op, "value", "must be a tensor", "none");
  if (detect_anomaly_) check_finite_value(op, value, inputs);
  const bool any = std::any_of(inputs.begin(), inputs.end(),
                               [](const Var& input) { return input.needs_grad(); });
  if (!recording_ || !any) return constant(std::move(value));
  if (!backward) fail_misuse(op, "backward", "must be a function", "none");
  Node node;
  node.op = op;
  node.shape = value.shape();
  node.backward = std::move(backward);
  for (const Var& input : inputs) node.inputs.push_back(input.node_);
  return append(std::move(node), std::move(value));
}

void Tape::backward(const Var& root) {
  if (root.value().numel() != 1) {
    fail_misuse("backward", "root", "must hold one value, or come with a seed of its shape",
                "shape " + root.shape().str());
  }
  backward(root, Tensor::ones(root.shape()));
}

void Tape::backward(const Var& root, const Tensor& seed) {
  check_on_tape("backward", "root", root);
  check_seed("backward", root, seed);
  // Added only at the end: a pass that throws midway changes no gradient.
  std::vector<std::pair<Node*, Tensor>> arrived;
  reverse_loop(root.node_, seed, 0, [&](Node& node, const Tensor& dy) {
    if (keeps_gradient(node)) arrived.emplace_back(&node, dy);
  });
  for (const auto& [node, dy] : arrived) keep_gradient(*node, dy);
}

Tensor Tape::vector_jacobian_product(const Var& root, const Tensor& seed, const Var& of) {
  check_on_tape("vector_jacobian_product", "root", root);
  check_on_tape("vector_jacobian_product", "of", of);
  check_seed("vector_jacobian_product", root, seed);
  Tensor product = Tensor::zeros(of.shape());
  if (of.node_ > root.node_) return product;
  reverse_loop(root.node_, seed, of.node_, [&](Node& node, const Tensor& dy) {
    if (&node == &nodes_[of.node_]) product = dy;
  });
  return product;
}

void Tape::check_on_tape(std::string_view op, std::string_view argument, const Var& var) const {
  if (&var.tape() != this) {
    fail_misuse(op, argument, "must be on this tape", "a Var of another tape");
  }
  if (!var.needs_grad()) {
    fail_misuse(op, argument, "must depend on a parameter or variable", "a constant");
  }
}

void Tape::check_seed(std::string_view op, const Var& root, const Tensor& seed) const {
  check(seed.defined(), op, "seed", "must be a tensor", "none");
  check_shape(op, "seed", seed.shape(), root.shape());
  if (detect_anomaly_) check_finite_seed(op, seed);
}

void Tape::check_idle(std::string_view op) const {
  if (!in_reverse_loop_) return;
  fail_misuse(op, "tape", "must not be changed by a backward closure", "a reverse pass under way");
}

// A node reads only earlier nodes, so when the loop reaches it every later use has contributed. An
// adjoint is released as soon as it has been passed on.
void Tape::reverse_loop(std::size_t root, const Tensor& seed, std::size_t last,
                        const std::function<void(Node&, const Tensor&)>& keep) {
  check_idle("backward");
  const auto end_pass = [&] {
    in_reverse_loop_ = false;
    for (std::size_t i = 0; i <= root; ++i) nodes_[i].adjoint = Tensor();
  };
  in_reverse_loop_ = true;
  try {
    nodes_[root].adjoint = seed;
    for (std::size_t i = root + 1; i-- > last;) {
      Node& node = nodes_[i];
      if (!node.adjoint.defined()) continue;  // root does not depend on it
      const Tensor dy = std::exchange(node.adjoint, Tensor());
      keep(node, dy);
      if (node.backward) node.backward(dy);
      if (detect_anomaly_) check_finite_gradients(i);
    }
  } catch (...) {
    end_pass();  // the next pass must start from nothing
    throw;
  }
  end_pass();
}

bool Tape::keeps_gradient(const Node& node) const {
  const bool is_leaf = !node.backward;
  return is_leaf || node.retain_grad || retain_all_grads_;
}

void Tape::keep_gradient(Node& node, const Tensor& dy) {
  Tensor& kept = node.parameter != nullptr ? node.parameter->grad : node.grad;
  if (kept.defined()) {
    kept += dy;
  } else {
    kept = dy;
  }
}

void Tape::clear() {
  check_idle("Tape::clear");
  nodes_.clear();
  watched_.clear();
  alive_ = new_epoch();
}

Tape& common_tape(std::string_view op, const std::vector<Var>& inputs) {
  if (inputs.empty()) fail_misuse(op, "inputs", "must be at least one", "none");
  Tape& tape = inputs.front().tape();
  for (const Var& input : inputs) {
    if (&input.tape() != &tape) {
      fail_misuse(op, "inputs", "must all be on one tape", "Vars of two tapes");
    }
  }
  return tape;
}

Var record(std::string_view op, Tensor value, const std::vector<Var>& inputs,
           Tape::Backward backward) {
  if (inputs.empty()) fail_misuse(op, "inputs", "must be at least one", "none");
  return inputs.front().tape().record(op, std::move(value), inputs, std::move(backward));
}

}  // namespace normlab
