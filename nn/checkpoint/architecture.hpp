#pragma once

#include <string>
#include <vector>

#include "nn/checkpoint/checkpoint.hpp"

// The architecture of a model in a checkpoint: its hyperparameters as a JSON object. Used by
// checkpoint.cpp only.
namespace normlab {

// The hyperparameters of the model as JSON: {"encoder.norm.eps": 1e-05, ...}.
std::string architecture_json(Module& model);

// Compares the file's architecture with the model's. Returns warnings and throws std::runtime_error
// as read_model does.
std::vector<std::string> check_architecture(const Safetensors& file, Module& model,
                                            const std::string& source, Architecture architecture);

}  // namespace normlab
