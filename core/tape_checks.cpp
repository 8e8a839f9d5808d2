// Tested by tests/core/tape_misuse_test.cpp and tape_anomaly_test.cpp.
#include "core/tape_checks.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "core/check.hpp"

namespace normlab {

namespace {

double first_non_finite(const Tensor& x) {
  return *std::find_if(x.values().begin(), x.values().end(),
                       [](double value) { return !std::isfinite(value); });
}

}  // namespace

void TapeChecks::on_tape(const Tape& tape, std::string_view op, std::string_view argument,
                         const Var& var) {
  if (&var.tape() != &tape) {
    fail_misuse(op, argument, "must be on this tape", "a Var of another tape");
  }
  if (!var.needs_grad()) {
    fail_misuse(op, argument, "must depend on a parameter or variable", "a constant");
  }
}

void TapeChecks::seed(const Tape& tape, std::string_view op, const Var& root, const Tensor& seed) {
  check(seed.defined(), op, "seed", "must be a tensor", "none");
  check_shape(op, "seed", seed.shape(), root.shape());
  if (tape.detect_anomaly_) finite_seed(op, seed);
}

void TapeChecks::outside_reverse_pass(const Tape& tape, std::string_view op) {
  if (!tape.in_reverse_pass_) return;
  fail_misuse(op, "tape", "must not be changed by a backward closure", "a reverse pass under way");
}

std::string TapeChecks::describe(const Tape& tape, std::size_t index) {
  if (index == Var::kNoNode) return "constant";
  const Tape::Node& node = tape.nodes_[index];
  return fmt::format("#{} {}{}{} {}", index, node.op, node.label.empty() ? "" : " ", node.label,
                     node.shape.str());
}

void TapeChecks::finite_value(const Tape& tape, std::string_view op, const Tensor& value,
                              const std::vector<Var>& inputs) {
  if (all_finite(value)) return;
  std::string read;
  for (const Var& input : inputs) {
    read += fmt::format(
        "{}{}{}", read.empty() ? "" : ", ",
        input.needs_grad() ? describe(tape, input.node_) : "constant " + input.shape().str(),
        all_finite(input.value()) ? "" : " (itself not finite)");
  }
  throw std::runtime_error(fmt::format("[anomaly] #{} {} {}: the output holds {}; inputs: {}",
                                       tape.nodes_.size(), op, value.shape().str(),
                                       first_non_finite(value), read));
}

void TapeChecks::finite_gradients(const Tape& tape, std::size_t index) {
  for (std::size_t input : tape.nodes_[index].inputs) {
    if (input == Var::kNoNode || !tape.nodes_[input].adjoint.defined()) continue;
    if (all_finite(tape.nodes_[input].adjoint)) continue;
    throw std::runtime_error(fmt::format(
        "[anomaly] backward of {}: the gradient of its input {} holds {}", describe(tape, index),
        describe(tape, input), first_non_finite(tape.nodes_[input].adjoint)));
  }
}

void TapeChecks::finite_seed(std::string_view op, const Tensor& seed) {
  if (all_finite(seed)) return;
  throw std::runtime_error(
      fmt::format("[anomaly] {}: the seed holds {}", op, first_non_finite(seed)));
}

}  // namespace normlab
