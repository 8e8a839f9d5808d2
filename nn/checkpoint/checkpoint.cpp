// Tested by tests/nn/checkpoint/checkpoint_test.cpp.
#include "nn/checkpoint/checkpoint.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/check.hpp"

namespace normlab {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kOp = "checkpoint";

Json json_of(const Hyperparameter& hyperparameter) {
  return std::visit([](const auto& value) { return Json(value); }, hyperparameter);
}

Json architecture_of(Module& model) {
  Json hyperparameters = Json::object();
  for (const auto& [name, hyperparameter] : model.named_hyperparameters())
    hyperparameters[name] = json_of(hyperparameter);
  return hyperparameters;
}

std::string shown(const Json& hyperparameters, const std::string& name) {
  return hyperparameters.contains(name) ? hyperparameters[name].dump() : "nothing";
}

// A line for each hyperparameter in which file and model differ.
std::vector<std::string> differences(const Json& file, const Json& model) {
  std::vector<std::string> lines;
  const auto compare = [&](const std::string& name) {
    lines.push_back(fmt::format("{} is {} in the file and {} in the model", name, shown(file, name),
                                shown(model, name)));
  };
  for (const auto& [name, hyperparameter] : model.items()) {
    if (!file.contains(name) || file[name] != hyperparameter) compare(name);
  }
  for (const auto& [name, hyperparameter] : file.items()) {
    if (!model.contains(name)) compare(name);
  }
  return lines;
}

// "norm "LayerNorm", eps 1e-05, ...": each hyperparameter once, without the module that it is of.
std::string summary(const Json& hyperparameters) {
  std::vector<std::string> distinct;
  for (const auto& [name, hyperparameter] : hyperparameters.items()) {
    const std::string text =
        fmt::format("{} {}", name.substr(name.rfind('.') + 1), hyperparameter.dump());
    if (std::find(distinct.begin(), distinct.end(), text) == distinct.end()) {
      distinct.push_back(text);
    }
  }
  return fmt::format("{}", fmt::join(distinct, ", "));
}

Json parse_architecture(const std::string& text, const std::string& source) {
  Json hyperparameters = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!hyperparameters.is_object()) {
    fail_file(kOp, source, fmt::format("its metadata {} is not a JSON object", kArchitectureKey),
              "get an intact copy");
  }
  return hyperparameters;
}

// Some keep a norm's weight as weight - 1. Then every norm would all but erase its input.
std::vector<std::string> warn_of_offset_weights(const Safetensors& file, Module& model) {
  for (const auto& [hyperparameter_name, hyperparameter] : model.named_hyperparameters()) {
    if (hyperparameter_name != "norm" && !hyperparameter_name.ends_with(".norm")) continue;
    const std::string name =
        hyperparameter_name.substr(0, hyperparameter_name.size() - 4) + "weight";
    const Tensor* weight = find_tensor(file.tensors, name);
    if (weight == nullptr || weight->numel() == 0) continue;
    double sum = 0.0;
    for (const double value : weight->values()) sum += value;
    const double mean = sum / static_cast<double>(weight->numel());
    if (std::abs(mean) >= 0.2) continue;
    return {
        fmt::format("{} is {:.2g} on average: norms start at 1, is this weight - 1?", name, mean)};
  }
  return {};
}

std::vector<std::string> check_architecture(const Safetensors& file, Module& model,
                                            const std::string& source, Architecture architecture) {
  const Json own = architecture_of(model);
  const auto found = file.metadata.find(kArchitectureKey);
  if (found == file.metadata.end()) {
    std::vector<std::string> warnings = warn_of_offset_weights(file, model);
    if (!own.empty()) {
      warnings.insert(warnings.begin(),
                      fmt::format("{} does not say of which architecture it is. Taken on trust: {}",
                                  source, summary(own)));
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

// Where each of the model's tensors goes to.
std::vector<std::pair<std::string, Tensor*>> places(Module& model) {
  std::vector<std::pair<std::string, Tensor*>> all;
  for (const auto& [name, parameter] : model.named_parameters()) {
    all.emplace_back(name, &parameter->value);
  }
  for (const auto& buffer : model.named_buffers()) all.push_back(buffer);
  return all;
}

}  // namespace

void add_model(Safetensors& file, Module& model) {
  for (const auto& [name, tensor] : places(model)) file.tensors.emplace_back(name, *tensor);
  file.metadata[kArchitectureKey] = architecture_of(model).dump();
}

std::vector<std::string> read_model(const Safetensors& file, Module& model,
                                    const std::string& source, Architecture architecture) {
  std::vector<std::string> warnings = check_architecture(file, model, source, architecture);
  const auto refuse = [&](const std::string& problem) {
    fail_file(kOp, source, problem, "name a file of this model");
  };
  std::map<std::string, const Tensor*> rest;
  for (const auto& [name, tensor] : file.tensors) {
    if (!name.starts_with(kTrainingPrefix)) rest[name] = &tensor;
  }
  std::vector<std::pair<Tensor*, const Tensor*>> assignments;
  for (const auto& [name, place] : places(model)) {
    const auto found = rest.find(name);
    if (found == rest.end()) refuse("has no " + name);
    const Tensor& tensor = *found->second;
    if (tensor.shape() != place->shape()) {
      refuse(fmt::format("{} has the shape {}, and in the model {}", name, tensor.shape().str(),
                         place->shape().str()));
    }
    if (!all_finite(tensor)) refuse(name + " holds numbers that are not finite");
    assignments.emplace_back(place, &tensor);
    rest.erase(found);
  }
  if (!rest.empty()) refuse("has " + rest.begin()->first + ", which the model has not");
  for (const auto& [place, tensor] : assignments) *place = *tensor;
  return warnings;
}

void save_model(const std::string& path, Module& model) {
  Safetensors file;
  add_model(file, model);
  write_safetensors(path, file);
}

std::vector<std::string> load_model(const std::string& path, Module& model,
                                    Architecture architecture) {
  return read_model(read_safetensors(path), model, path, architecture);
}

}  // namespace normlab
