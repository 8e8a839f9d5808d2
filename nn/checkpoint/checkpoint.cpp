// Tested by tests/nn/checkpoint/checkpoint_test.cpp.
#include "nn/checkpoint/checkpoint.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/check.hpp"
#include "nn/checkpoint/architecture.hpp"

namespace normlab {

namespace {

constexpr const char* kOp = "checkpoint";

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
  file.metadata[kArchitectureKey] = architecture_json(model);
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
