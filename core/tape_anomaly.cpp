// Tested by tests/core/tape_anomaly_test.cpp.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "core/tape.hpp"

namespace normlab {

namespace {

double first_non_finite(const Tensor& x) {
  return *std::find_if(x.values().begin(), x.values().end(),
                       [](double value) { return !std::isfinite(value); });
}

}  // namespace

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

void Tape::check_finite_seed(std::string_view op, const Tensor& seed) const {
  if (all_finite(seed)) return;
  throw std::runtime_error(
      fmt::format("[anomaly] {}: the seed holds {}", op, first_non_finite(seed)));
}

}  // namespace normlab
