#include "tests/support/fixtures.hpp"

#include <cstddef>
#include <exception>
#include <fstream>
#include <limits>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "core/check.hpp"

namespace normlab {
namespace {

constexpr std::string_view kHint = "run tests/fixtures/make_fixtures.py";

// JSON has no infinity; the only non-finite number of the fixtures is the mask value "-inf".
double read_number(const nlohmann::ordered_json& json) {
  if (!json.is_string()) return json.get<double>();
  if (json.get<std::string>() != "-inf") throw std::runtime_error("unknown number " + json.dump());
  return -std::numeric_limits<double>::infinity();
}

FixtureTensor read_tensor(const nlohmann::ordered_json& json) {
  FixtureTensor tensor;
  tensor.shape = json.at("shape").get<std::vector<std::int64_t>>();
  for (const auto& number : json.at("data")) tensor.data.push_back(read_number(number));
  std::size_t numel = 1;
  for (const std::int64_t extent : tensor.shape) numel *= static_cast<std::size_t>(extent);
  if (numel != tensor.data.size()) throw std::runtime_error("shape and data do not fit");
  return tensor;
}

FixtureTensors read_tensors(const nlohmann::ordered_json& json) {
  FixtureTensors tensors;
  for (const auto& [name, value] : json.items()) tensors.emplace_back(name, read_tensor(value));
  return tensors;
}

FixtureCase read_case(const nlohmann::ordered_json& json) {
  FixtureCase result;
  result.name = json.at("name").get<std::string>();
  result.kind = json.at("kind").get<std::string>();
  result.options = std::make_shared<const nlohmann::json>(json.at("options"));
  result.inputs = read_tensors(json.at("inputs"));
  result.parameters = read_tensors(json.at("parameters"));
  result.cotangents = read_tensors(json.at("cotangents"));
  result.outputs = read_tensors(json.at("outputs"));
  result.input_grads = read_tensors(json.at("input_grads"));
  result.parameter_grads = read_tensors(json.at("parameter_grads"));
  return result;
}

const FixtureTensor& require(const FixtureCase& from, const FixtureTensors& tensors,
                             std::string_view group, std::string_view name) {
  if (const FixtureTensor* found = find_tensor(tensors, name)) return *found;
  fail_file("fixture", from.name,
            "has no \"" + std::string(name) + "\" in its " + std::string(group), kHint);
}

}  // namespace

const FixtureTensor* find_tensor(const FixtureTensors& tensors, std::string_view name) {
  for (const auto& [key, tensor] : tensors) {
    if (key == name) return &tensor;
  }
  return nullptr;
}

const FixtureTensor& FixtureCase::input(std::string_view tensor) const {
  return require(*this, inputs, "inputs", tensor);
}
const FixtureTensor& FixtureCase::parameter(std::string_view tensor) const {
  return require(*this, parameters, "parameters", tensor);
}
const FixtureTensor& FixtureCase::cotangent(std::string_view tensor) const {
  return require(*this, cotangents, "cotangents", tensor);
}
const FixtureTensor& FixtureCase::output(std::string_view tensor) const {
  return require(*this, outputs, "outputs", tensor);
}
const FixtureTensor& FixtureCase::input_grad(std::string_view tensor) const {
  return require(*this, input_grads, "input_grads", tensor);
}
const FixtureTensor& FixtureCase::parameter_grad(std::string_view tensor) const {
  return require(*this, parameter_grads, "parameter_grads", tensor);
}

std::vector<FixtureCase> load_fixture_cases(const std::string& file_name, std::string_view kind) {
  const std::string path = std::string(NORMLAB_FIXTURES_DIR) + "/" + file_name;
  std::ifstream file(path);
  if (!file) fail_file("load_fixture_cases", path, "cannot be opened", kHint);
  std::vector<FixtureCase> cases;
  try {
    const auto document = nlohmann::ordered_json::parse(file);
    for (const auto& json : document.at("cases")) {
      if (kind.empty() || json.at("kind").get<std::string>() == kind) {
        cases.push_back(read_case(json));
      }
    }
  } catch (const std::exception& error) {
    fail_file("load_fixture_cases", path, error.what(), kHint);
  }
  if (cases.empty()) {
    fail_file("load_fixture_cases", path, "has no case of kind \"" + std::string(kind) + "\"",
              kHint);
  }
  return cases;
}

template <typename T>
T FixtureCase::option(const std::string& key) const {
  return options->at(key).get<T>();
}
template bool FixtureCase::option(const std::string&) const;
template double FixtureCase::option(const std::string&) const;
template std::int64_t FixtureCase::option(const std::string&) const;
template std::uint64_t FixtureCase::option(const std::string&) const;
template std::string FixtureCase::option(const std::string&) const;
template std::vector<std::int64_t> FixtureCase::option(const std::string&) const;

template <typename T>
T FixtureCase::option_or(const std::string& key, T fallback) const {
  return options->value(key, fallback);
}
template bool FixtureCase::option_or(const std::string&, bool) const;
template double FixtureCase::option_or(const std::string&, double) const;
template std::int64_t FixtureCase::option_or(const std::string&, std::int64_t) const;
template std::string FixtureCase::option_or(const std::string&, std::string) const;

bool FixtureCase::has_option(const std::string& key) const { return options->contains(key); }

bool FixtureCase::option_is_number(const std::string& key) const {
  return options->at(key).is_number();
}

}  // namespace normlab
