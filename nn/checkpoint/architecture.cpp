// Tested by tests/nn/checkpoint/checkpoint_test.cpp.
#include "nn/checkpoint/architecture.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/check.hpp"
#include "core/json/strict_json.hpp"

namespace normlab {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kOp = "checkpoint";

Json to_json(const Hyperparameter& hyperparameter) {
  return std::visit([](const auto& value) { return Json(value); }, hyperparameter);
}

Json read_architecture(Module& model) {
  Json architecture = Json::object();
  for (const auto& [name, value] : model.named_hyperparameters())
    architecture[name] = to_json(value);
  return architecture;
}

std::string describe(const Json& architecture, const std::string& name) {
  return architecture.contains(name) ? architecture[name].dump() : "nothing";
}

// One line for each hyperparameter in which file and model differ.
std::vector<std::string> differences(const Json& file, const Json& model) {
  std::vector<std::string> lines;
  const auto add_line = [&](const std::string& name) {
    lines.push_back(fmt::format("{} is {} in the file and {} in the model", name,
                                describe(file, name), describe(model, name)));
  };
  for (const auto& [name, value] : model.items()) {
    if (!file.contains(name) || file[name] != value) add_line(name);
  }
  for (const auto& [name, value] : file.items()) {
    if (!model.contains(name)) add_line(name);
  }
  return lines;
}

// "norm "LayerNorm", eps 1e-05, ...": each combination of hyperparameter and value once, without
// the names of the modules.
std::string summary(const Json& architecture) {
  std::vector<std::string> distinct;
  for (const auto& [name, value] : architecture.items()) {
    const std::string text = fmt::format("{} {}", name.substr(name.rfind('.') + 1), value.dump());
    if (std::ranges::find(distinct, text) == distinct.end()) distinct.push_back(text);
  }
  return fmt::format("{}", fmt::join(distinct, ", "));
}

Json parse_architecture(const std::string& text, const std::string& source) {
  const auto refuse = [&](const std::string& problem) {
    fail_file(kOp, source, fmt::format("its metadata {} {}", kArchitectureKey, problem),
              "get an intact copy");
  };
  Json architecture;
  try {
    architecture = parse_json(text, {.depth = 1});
  } catch (const JsonError& error) {
    refuse(error.what());
  }
  if (!architecture.is_object()) refuse("is not a JSON object");
  return architecture;
}

// The modules that are norms: the name of their `norm` hyperparameter without that last part ("",
// "encoder.norm."), and which norm it is.
std::vector<std::pair<std::string, std::string>> norms_in(Module& model) {
  std::vector<std::pair<std::string, std::string>> norms;
  for (const auto& [name, value] : model.named_hyperparameters()) {
    if (name != "norm" && !name.ends_with(".norm")) continue;
    const auto* norm = std::get_if<std::string>(&value);
    if (norm != nullptr) norms.emplace_back(name.substr(0, name.size() - 4), *norm);
  }
  return norms;
}

// Some programs store a norm's weight as weight - 1. Loaded as the weight itself, it would erase
// almost all of the norm's input.
std::optional<std::string> warn_of_offset_weights(const Safetensors& file, Module& model) {
  for (const auto& [prefix, norm] : norms_in(model)) {
    const std::string name = prefix + "weight";
    const Tensor* weight = find_tensor(file.tensors, name);
    if (weight == nullptr || weight->numel() == 0) continue;
    const auto values = weight->values();
    const double mean =
        std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(weight->numel());
    if (std::abs(mean) >= 0.2) continue;
    return fmt::format("{} is {:.2g} on average: norms start at 1, is this weight - 1?", name,
                       mean);
  }
  return std::nullopt;
}

// PyTorch's RMSNorm without an eps uses the machine epsilon of its input's type.
std::optional<std::string> warn_of_default_eps(const Safetensors& file, Module& model) {
  const double of_double = std::numeric_limits<double>::epsilon();
  const double of_float = std::numeric_limits<float>::epsilon();
  const Json architecture = read_architecture(model);
  for (const auto& [prefix, norm] : norms_in(model)) {
    if (norm != "RMSNorm" || architecture[prefix + "eps"] != of_double) continue;
    if (!file.single_precision.contains(prefix + "weight")) continue;
    return fmt::format(
        "{}eps is {:.3g}, the default for doubles, but the weights are single precision, for which "
        "PyTorch's default is {:.3g}: with which one were they trained?",
        prefix, of_double, of_float);
  }
  return std::nullopt;
}

}  // namespace

std::string architecture_json(Module& model) { return read_architecture(model).dump(); }

std::vector<std::string> check_architecture(const Safetensors& file, Module& model,
                                            const std::string& source, Architecture architecture) {
  const Json own = read_architecture(model);
  const auto found = file.metadata.find(kArchitectureKey);
  if (found == file.metadata.end()) {
    std::vector<std::string> warnings;
    if (!own.empty()) {
      warnings.push_back(fmt::format(
          "{} does not say of which architecture it is. Taken on trust: {}", source, summary(own)));
    }
    for (const auto& warning :
         {warn_of_offset_weights(file, model), warn_of_default_eps(file, model)}) {
      if (warning) warnings.push_back(*warning);
    }
    return warnings;
  }
  std::vector<std::string> lines = differences(parse_architecture(found->second, source), own);
  if (lines.empty() || architecture == Architecture::may_differ) return lines;
  const std::string more =
      lines.size() > 1 ? fmt::format(", and {} more such", lines.size() - 1) : "";
  fail_file(kOp, source, "is of another architecture: " + lines.front() + more,
            "build the model as the file's was, or load with Architecture::may_differ");
}

}  // namespace normlab
