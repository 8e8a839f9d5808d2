#include "core/tape.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/tape_checks.hpp"

namespace normlab {

namespace {

// Vars and Adjoints hold a weak pointer to it and so notice when the tape is cleared or destroyed.
std::shared_ptr<const char> make_life_token() { return std::make_shared<const char>(); }

}  // namespace

// A reverse pass under way: nothing may be recorded or cleared, and however the pass ends, no
// adjoint is left for the next one to start from.
class Tape::Pass {
 public:
  Pass(Tape& tape, std::size_t root) : tape_(tape), root_(root) {
    TapeChecks::outside_reverse_pass(tape, "backward");
    tape_.in_reverse_pass_ = true;
  }
  ~Pass() {
    tape_.in_reverse_pass_ = false;
    for (std::size_t i = 0; i <= root_; ++i) tape_.nodes_[i].adjoint = Tensor();
  }
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

 private:
  Tape& tape_;
  std::size_t root_;
};

void Var::refuse_moved_from() {
  fail_misuse("Var", "this", "must hold a value", "a Var that was moved from");
}

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
  if (!tape_->is_retained(place)) {
    fail_misuse("Var::grad", "this", "must be a leaf, or given to retain_grad() before backward",
                fmt::format("the result of {}", place.op));
  }
  return place.parameter != nullptr ? place.parameter->grad : place.grad;
}

const Var& Var::retain_grad() const {
  tape().nodes_[node()].retain_grad = true;
  return *this;
}

Adjoint::Adjoint(const Var& var) : tape_(var.tape_), node_(var.node_), alive_(var.alive_) {}

Adjoint::Adjoint(const std::optional<Var>& var) {
  if (var) *this = Adjoint(*var);
}

void Adjoint::operator+=(Tensor contribution) const {
  if (!*this) return;
  if (alive_.expired() || !tape_->in_reverse_pass_) {
    fail_misuse("Adjoint", "this", "must only be added to in a reverse pass of its tape",
                alive_.expired() ? "a tape that was cleared or destroyed" : "no pass under way");
  }
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

Tape::Tape() : alive_(make_life_token()) {}

Var Tape::append(Node node, Tensor value) {
  TapeChecks::outside_reverse_pass(*this, node.op);
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
  if (!parameter.requires_grad || no_grads_ > 0) return constant(parameter.value);
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
  if (detect_anomaly_) TapeChecks::finite_value(*this, op, value, inputs);
  const bool any = std::any_of(inputs.begin(), inputs.end(),
                               [](const Var& input) { return input.needs_grad(); });
  if (no_grads_ > 0 || !any) return constant(std::move(value));
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

// A node reads only earlier nodes, so when the loop reaches it, its adjoint is complete.
void Tape::propagate(std::size_t root, const Tensor& seed, std::size_t stop) {
  nodes_[root].adjoint = seed;
  for (std::size_t i = root + 1; i-- > stop;) {
    Node& node = nodes_[i];
    if (!node.adjoint.defined() || !node.backward) continue;  // root does not depend on it; a leaf
    node.backward(node.adjoint);
    if (!is_retained(node)) node.adjoint = Tensor();  // halves the peak memory
    if (detect_anomaly_) TapeChecks::finite_gradients(*this, i);
  }
}

void Tape::backward(const Var& root, const Tensor& seed) {
  TapeChecks::on_tape(*this, "backward", "root", root);
  TapeChecks::seed(*this, "backward", root, seed);
  const Pass pass(*this, root.node_);
  propagate(root.node_, seed, 0);
  // Added only now: a pass that throws midway changes no gradient.
  for (std::size_t i = 0; i <= root.node_; ++i) {
    Node& node = nodes_[i];
    if (!node.adjoint.defined()) continue;
    Tensor& gradient = node.parameter != nullptr ? node.parameter->grad : node.grad;
    if (gradient.defined()) {
      gradient += node.adjoint;
    } else {
      gradient = std::move(node.adjoint);
    }
  }
}

Tensor Tape::vector_jacobian_product(const Var& root, const Tensor& seed, const Var& x) {
  TapeChecks::on_tape(*this, "vector_jacobian_product", "root", root);
  TapeChecks::on_tape(*this, "vector_jacobian_product", "x", x);
  TapeChecks::seed(*this, "vector_jacobian_product", root, seed);
  if (x.node_ > root.node_) return Tensor::zeros(x.shape());
  const Pass pass(*this, root.node_);
  propagate(root.node_, seed, x.node_ + 1);  // x itself passes nothing on
  const Tensor& product = nodes_[x.node_].adjoint;
  return product.defined() ? product : Tensor::zeros(x.shape());
}

// A leaf, or what the caller asked to keep.
bool Tape::is_retained(const Node& node) const {
  return !node.backward || node.retain_grad || retain_all_grads_;
}

void Tape::clear() {
  TapeChecks::outside_reverse_pass(*this, "Tape::clear");
  nodes_.clear();
  watched_.clear();
  alive_ = make_life_token();
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
