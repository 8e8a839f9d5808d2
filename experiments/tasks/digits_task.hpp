#pragma once

#include <nlohmann/json_fwd.hpp>

#include "data/digits.hpp"
#include "experiments/lab/training/training.hpp"
#include "nn/models/vision_transformer.hpp"
#include "nn/transformer/placement.hpp"

namespace normlab {

// A VisionTransformer and how it is trained on the digits. The defaults are the run of
// docs/training.md.
struct TrainDigitsOptions {
  std::string norm = "layernorm";
  Placement placement = Placement::pre;
  std::int64_t layers = 2, width = 48;
  TrainingOptions training{};
};

inline constexpr std::int64_t kTrainHeads = 4;  // they divide the width; the ffn is twice as wide
VisionTransformer::Options model_options(const TrainDigitsOptions& options);

// Four fifths of the images, drawn once and for all: the same for every seed, so that runs differ
// in their training and not in what they are tested on. Pixels 0 .. 16 become -1 .. 1.
struct DigitsSplit {
  Digits train, test;
};
DigitsSplit split_digits(const Digits& digits);

// Throws std::invalid_argument, naming `program`, for options that do not fit together.
TrainingTask digits_task(const TrainDigitsOptions& options, const Digits& digits,
                         const std::string& program = "train_digits");

// The options under their keys on the command line, as checkpoints keep them.
nlohmann::ordered_json json_of(const TrainDigitsOptions& options);

}  // namespace normlab
