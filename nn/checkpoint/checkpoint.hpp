#pragma once

#include <string>
#include <vector>

#include "nn/checkpoint/safetensors.hpp"
#include "nn/module.hpp"

// A model in a safetensors file, under PyTorch's names (docs/checkpoints.md).
//
// Names and shapes say little about what a model computes: they are the same for post-norm and
// pre-norm, for ReLU and GELU, for an eps of 1e-5 and one of 1e-6, for 4 heads and 8. So the file
// also stores the architecture, every hyperparameter of the model (Module::named_hyperparameters),
// and a model that differs in one of them is refused.
namespace normlab {

// The metadata entry with the architecture: a JSON object, dotted name -> hyperparameter.
inline constexpr const char* kArchitectureKey = "normlab.architecture";
// Names with this prefix are not the model's: the state of an optimizer, of generators.
inline constexpr const char* kTrainingPrefix = "training.";

// Appends the model's parameters and buffers, and its architecture.
void add_model(Safetensors& file, Module& model);

enum class Architecture {
  must_agree,
  may_differ,  // differences are still reported, as warnings
};

// Sets the model's parameters and buffers to those of the file. Returns warnings, one line each:
// what could not be checked, and differences that are allowed. Throws std::runtime_error naming the
// field, and changes nothing, if
//   - the architecture differs (unless it may) or is not a flat JSON object,
//   - a tensor of the model is missing or has another shape,
//   - the file has a tensor that is not the model's, or that differs from the one which the model
//     ties it to (Module::register_alias),
//   - a value is NaN or infinite.
// A file without an architecture, as other programs write them, is loaded with a warning that lists
// what was taken on trust. Two more warnings look for frequent mismatches: norm weights that were
// stored as weight - 1, and an RMSNorm of single precision whose eps is the default for doubles.
// `source` names the file in messages.
std::vector<std::string> read_model(const Safetensors& file, Module& model,
                                    const std::string& source,
                                    Architecture architecture = Architecture::must_agree);

// add_model and write_safetensors; read_safetensors and read_model.
void save_model(const std::string& path, Module& model);
std::vector<std::string> load_model(const std::string& path, Module& model,
                                    Architecture architecture = Architecture::must_agree);

}  // namespace normlab
