#pragma once

#include <string>
#include <vector>

#include "nn/checkpoint/safetensors.hpp"
#include "nn/module.hpp"

// A model in a safetensors file, under PyTorch's names (docs/checkpoints.md).
//
// Names and shapes say little of what a model computes: post-norm and pre-norm, ReLU and GELU, an
// eps of 1e-5 and one of 1e-6, 4 heads and 8 have the same. So the file carries the architecture,
// every hyperparameter of the model (Module::named_hyperparameters), and a model that differs in
// one of them is refused.
namespace normlab {

// The metadata entry with the architecture: a JSON object, dotted name -> hyperparameter.
inline constexpr const char* kArchitectureKey = "normlab.architecture";
// Tensors whose names start so are not the model's: the state of an optimizer, of generators.
inline constexpr const char* kTrainingPrefix = "training.";

// Appends the model's parameters and buffers, and its architecture.
void add_model(Safetensors& file, Module& model);

enum class Architecture {
  must_agree,
  may_differ,  // for those who mean it; what differs is still reported
};

// Gives the model the weights of the file. Returns warnings, a line each: what could not be
// checked, or was not to be. Throws std::runtime_error naming the field, and changes nothing, if
//   - the architecture differs (unless it may),
//   - a tensor of the model is missing or has another shape, or one that is not the model's is
//   there,
//   - a number is not finite: nobody goes on from such weights knowingly.
// A file without an architecture, as others write them, is loaded, with a warning that says what
// was taken on trust. `source` names the file in messages.
std::vector<std::string> read_model(const Safetensors& file, Module& model,
                                    const std::string& source,
                                    Architecture architecture = Architecture::must_agree);

void save_model(const std::string& path, Module& model);
std::vector<std::string> load_model(const std::string& path, Module& model,
                                    Architecture architecture = Architecture::must_agree);

}  // namespace normlab
