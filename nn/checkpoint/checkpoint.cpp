// Tested by tests/nn/checkpoint/checkpoint_test.cpp.
#include "nn/checkpoint/checkpoint.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
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

// Every tensor that a file of the model holds, and where it is in the model.
std::vector<std::pair<std::string, Tensor*>> named_tensors(Module& model) {
  std::vector<std::pair<std::string, Tensor*>> all;
  for (const auto& [name, parameter] : model.named_parameters()) {
    all.emplace_back(name, &parameter->value);
  }
  for (const auto& buffer : model.named_buffers()) all.push_back(buffer);
  return all;
}

bool equal(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::ranges::equal(a.values(), b.values());
}

// Matches the tensors of a file with those of a model; changes neither.
class Matching {
 public:
  Matching(const Safetensors& file, const std::string& source) : source_(source) {
    for (const auto& [name, tensor] : file.tensors) {
      if (!name.starts_with(kTrainingPrefix)) unmatched_[name] = &tensor;
    }
  }

  void match(Module& model) {
    const auto aliases = model.named_aliases();
    for (const auto& [name, place] : named_tensors(model)) match(name, *place, aliases);
    for (const auto& [alias, parameter] : aliases) check_tied(alias, *parameter);
    if (!unmatched_.empty()) {
      refuse("has " + unmatched_.begin()->first + ", which the model has not");
    }
  }

  void assign() const {
    for (const auto& [place, tensor] : assignments_) *place = *tensor;
  }

 private:
  using Aliases = std::vector<std::pair<std::string, Parameter*>>;

  [[noreturn]] void refuse(const std::string& problem) const {
    fail_file(kOp, source_, problem, "name a file of this model");
  }

  // A parameter that is used in two places may be in the file under either name.
  void match(const std::string& name, Tensor& place, const Aliases& aliases) {
    auto found = unmatched_.find(name);
    for (const auto& [alias, parameter] : aliases) {
      if (found == unmatched_.end() && &parameter->value == &place) found = unmatched_.find(alias);
    }
    if (found == unmatched_.end()) refuse("has no " + name);
    const auto& [file_name, tensor] = *found;
    if (tensor->shape() != place.shape()) {
      refuse(fmt::format("{} has the shape {}, and in the model {}", file_name,
                         tensor->shape().str(), place.shape().str()));
    }
    if (!all_finite(*tensor)) refuse(file_name + " holds numbers that are not finite");
    assignments_[&place] = tensor;
    names_[&place] = file_name;
    unmatched_.erase(found);
  }

  void check_tied(const std::string& alias, Parameter& parameter) {
    const auto found = unmatched_.find(alias);
    if (found == unmatched_.end()) return;
    if (!equal(*found->second, *assignments_.at(&parameter.value))) {
      refuse(fmt::format("{} differs from {}, and the model ties the two", alias,
                         names_.at(&parameter.value)));
    }
    unmatched_.erase(found);
  }

  const std::string& source_;
  std::map<std::string, const Tensor*> unmatched_;  // tensors of the file
  std::map<Tensor*, const Tensor*> assignments_;    // model <- file
  std::map<Tensor*, std::string> names_;            // under which the file has them
};

}  // namespace

void add_model(Safetensors& file, Module& model) {
  for (const auto& [name, tensor] : named_tensors(model)) file.tensors.emplace_back(name, *tensor);
  file.metadata[kArchitectureKey] = read_architecture(model).dump();
}

std::vector<std::string> read_model(const Safetensors& file, Module& model,
                                    const std::string& source, Architecture architecture) {
  std::vector<std::string> warnings = check_architecture(file, model, source, architecture);
  Matching matching(file, source);
  matching.match(model);
  matching.assign();
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
