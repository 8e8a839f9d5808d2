#include "core/tape.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "core/check.hpp"

namespace normlab {

namespace {

std::shared_ptr<const char> new_epoch() { return std::make_shared<const char>(); }

double first_non_finite(const Tensor& x) {
  return *std::find_if(x.values().begin(), x.values().end(),
                       [](double value) { return !std::isfinite(value); });
}

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
  if (place.backward && !place.retain_grad && !tape_->retain_all_grads_) {
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
  Tape::Node& node = tape_->nodes_[node_];
  check_shape("backward", "gradient of " + node.op, contribution.shape(), node.shape);
  if (node.adjoint.defined()) {
    node.adjoint += contribution;
  } else {
    node.adjoint = std::move(contribution);
  }
}

Tape::Tape() : alive_(new_epoch()) {}

Var Tape::append(Node node, Tensor value) {
  nodes_.push_back(std::move(node));
  return Var(std::move(value), *this, nodes_.size() - 1, alive_);
}

Var Tape::constant(Tensor value) { return Var(std::move(value), *this, Var::kNoNode, alive_); }

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
  watched_.emplace(&parameter, nodes_.size());
  return append(std::move(leaf), parameter.value);
}

Var Tape::record(std::string_view op, Tensor value, const std::vector<Var>& inputs,
                 Backward backward) {
  if (detect_anomaly_) check_finite_value(op, value, inputs);
  const bool any = std::any_of(inputs.begin(), inputs.end(),
                               [](const Var& input) { return input.needs_grad(); });
  if (!recording_ || !any) return constant(std::move(value));
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
  check_root(root, seed);
  reverse_loop(root.node_, seed, 0,
               [this](Node& node, const Tensor& dy) { keep_gradient(node, dy); });
}

Tensor Tape::vector_jacobian_product(const Var& root, const Tensor& seed, const Var& of) {
  check_root(root, seed);
  check_root(of, of.value());
  Tensor product = Tensor::zeros(of.shape());
  if (of.node_ > root.node_) return product;
  reverse_loop(root.node_, seed, of.node_, [&](Node& node, const Tensor& dy) {
    if (&node == &nodes_[of.node_]) product = dy;
  });
  return product;
}

void Tape::check_root(const Var& root, const Tensor& seed) const {
  if (&root.tape() != this) {
    fail_misuse("backward", "root", "must be on this tape", "a Var of another tape");
  }
  if (!root.needs_grad()) {
    fail_misuse("backward", "root", "must depend on a parameter or variable", "a constant");
  }
  check_shape("backward", "seed", seed.shape(), root.shape());
}

// A node reads only earlier nodes, so when the loop reaches it every later use has contributed. An
// adjoint is released as soon as it has been passed on.
void Tape::reverse_loop(std::size_t root, const Tensor& seed, std::size_t last,
                        const std::function<void(Node&, const Tensor&)>& keep) {
  const auto release_adjoints = [&] {
    for (std::size_t i = 0; i <= root; ++i) nodes_[i].adjoint = Tensor();
  };
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
    release_adjoints();  // the next pass must start from nothing
    throw;
  }
  if (last > 0) release_adjoints();
}

void Tape::keep_gradient(Node& node, const Tensor& dy) const {
  const bool is_leaf = !node.backward;
  if (!is_leaf && !node.retain_grad && !retain_all_grads_) return;
  Tensor& kept = node.parameter != nullptr ? node.parameter->grad : node.grad;
  if (kept.defined()) {
    kept += dy;
  } else {
    kept = dy;
  }
}

void Tape::clear() {
  nodes_.clear();
  watched_.clear();
  alive_ = new_epoch();
}

std::string Tape::describe(std::size_t index) const {
  if (index == Var::kNoNode) return "constant";
  const Node& node = nodes_[index];
  return fmt::format("#{} {}{}{} {}", index, node.op, node.label.empty() ? "" : " ", node.label,
                     node.shape.str());
}

void Tape::check_finite_value(std::string_view op, const Tensor& value,
                              const std::vector<Var>& inputs) const {
  if (all_finite(value)) return;
  std::string read;
  for (const Var& input : inputs) {
    read +=
        fmt::format("{}{}{}", read.empty() ? "" : ", ",
                    input.needs_grad() ? describe(input.node_) : "constant " + input.shape().str(),
                    all_finite(input.value()) ? "" : " (itself not finite)");
  }
  throw std::runtime_error(fmt::format("[anomaly] #{} {} {}: the output holds {}; inputs: {}",
                                       nodes_.size(), op, value.shape().str(),
                                       first_non_finite(value), read));
}

void Tape::check_finite_gradients(std::size_t index) const {
  for (std::size_t input : nodes_[index].inputs) {
    if (input == Var::kNoNode || !nodes_[input].adjoint.defined()) continue;
    if (all_finite(nodes_[input].adjoint)) continue;
    throw std::runtime_error(
        fmt::format("[anomaly] backward of {}: the gradient of its input {} holds {}",
                    describe(index), describe(input), first_non_finite(nodes_[input].adjoint)));
  }
}

void Tape::dump(std::ostream& out) const {
  fmt::print(out, "{:>5}  {:<20} {:<18} {}\n", "#", "op", "shape", "inputs");
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    std::string inputs = node.label;
    for (std::size_t input : node.inputs) {
      inputs += input == Var::kNoNode ? "const " : fmt::format("#{} ", input);
    }
    while (inputs.ends_with(' ')) inputs.pop_back();
    fmt::print(out, "{:>5}  {:<20} {:<18} {}\n", i, node.op, node.shape.str(), inputs);
  }
}

void Tape::dump_dot(std::ostream& out) const {
  fmt::print(out, "digraph tape {{\n  rankdir=BT;\n  node [shape=box, fontname=\"sans-serif\"];\n");
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    fmt::print(out, "  n{} [label=\"{}\\n{}\"{}];\n", i, node.label.empty() ? node.op : node.label,
               node.shape.str(), node.backward ? "" : ", style=rounded");
    for (std::size_t input : node.inputs) {
      if (input != Var::kNoNode) fmt::print(out, "  n{} -> n{};\n", input, i);
    }
  }
  fmt::print(out, "}}\n");
}

Tape& common_tape(std::string_view op, const std::vector<Var>& inputs) {
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
  return common_tape(op, inputs).record(op, std::move(value), inputs, std::move(backward));
}

}  // namespace normlab
