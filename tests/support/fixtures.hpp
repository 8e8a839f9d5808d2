#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

// Reads the PyTorch fixtures of tests/fixtures: values and gradients made by make_fixtures.py. What
// a kind's inputs and options mean stands in the Python module that makes it.
namespace normlab {

// Row-major, like Tensor; indices and booleans are numbers, too. A scalar has the empty shape.
struct FixtureTensor {
  std::vector<std::int64_t> shape;
  std::vector<double> data;
};

// In the order of the file, which for parameters is PyTorch's.
using FixtureTensors = std::vector<std::pair<std::string, FixtureTensor>>;

// nullptr when there is no tensor of that name.
const FixtureTensor* find_tensor(const FixtureTensors& tensors, std::string_view name);

struct FixtureCase {
  std::string name;
  std::string kind;
  std::shared_ptr<const nlohmann::json> options;
  FixtureTensors inputs;
  FixtureTensors parameters;
  FixtureTensors cotangents;  // of some or all outputs: the seeds of the backward pass
  FixtureTensors outputs;
  FixtureTensors input_grads;  // of the differentiable inputs only
  FixtureTensors parameter_grads;

  // Each throws std::runtime_error with the case's and the tensor's name when it is not there.
  const FixtureTensor& input(std::string_view tensor) const;
  const FixtureTensor& parameter(std::string_view tensor) const;
  const FixtureTensor& cotangent(std::string_view tensor) const;
  const FixtureTensor& output(std::string_view tensor) const;
  const FixtureTensor& input_grad(std::string_view tensor) const;
  const FixtureTensor& parameter_grad(std::string_view tensor) const;
  bool has_input(std::string_view tensor) const { return find_tensor(inputs, tensor) != nullptr; }

  // Options that every case of the kind has; the second form is for those that a case may omit.
  // For the types that options have (fixtures.cpp): every test would else compile all of JSON.
  template <typename T>
  T option(const std::string& key) const;
  template <typename T>
  T option_or(const std::string& key, T fallback) const;
  bool has_option(const std::string& key) const;
  bool option_is_number(const std::string& key) const;
};

// All cases of e.g. "ops.json"; with a kind, those of that kind. Throws std::runtime_error if the
// file cannot be read, is not a fixture, or holds no such case: a test over no cases proves
// nothing.
std::vector<FixtureCase> load_fixture_cases(const std::string& file_name,
                                            std::string_view kind = {});

}  // namespace normlab
