#pragma once

#include <cstdint>
#include <string>

#include "experiments/lab/results/results.hpp"
#include "experiments/lab/training/training.hpp"

namespace normlab {

// "adamw with peak rate 0.003 (cosine, warmup 100), seed 0".
std::string training_text(const TrainingOptions& options);
// "no warmup", or "warmup 100".
std::string warmup_text(std::int64_t warmup);
// "1 layer", or "2 layers".
std::string counted(std::int64_t count, const std::string& thing);
// "diverged at step 3: loss inf, gradient norm nan".
std::string divergence_text(const Divergence& divergence);

// Adds what every training found: the tables `epochs` and `outcome`, learning curves, what to look
// for in them, and after a divergence the exit code. `thing` is what is predicted: "image".
void add_training(lab::Results& results, const TrainingResult& result, const std::string& thing);

}  // namespace normlab
