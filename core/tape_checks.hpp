#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/tape.hpp"

// What the tape refuses, and what its anomaly mode looks for. Used by tape.cpp only.
namespace normlab {

struct TapeChecks {
  // `var` is recorded on this tape; `argument` is what the caller calls it.
  static void on_tape(const Tape& tape, std::string_view op, std::string_view argument,
                      const Var& var);
  static void seed(const Tape& tape, std::string_view op, const Var& root, const Tensor& seed);
  static void outside_reverse_pass(const Tape& tape, std::string_view op);

  // Anomaly mode: std::runtime_error naming the op, unless all numbers are finite.
  static void finite_value(const Tape& tape, std::string_view op, const Tensor& value,
                           const std::vector<Var>& inputs);
  static void finite_seed(std::string_view op, const Tensor& seed);
  // Looks at the gradients that the backward of node `index` gave to its inputs.
  static void finite_gradients(const Tape& tape, std::size_t index);

 private:
  static std::string describe(const Tape& tape, std::size_t index);
};

}  // namespace normlab
