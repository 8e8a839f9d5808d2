#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/digits.hpp"
#include "nn/optim/learning_rate.hpp"
#include "nn/optim/update_rules.hpp"
#include "nn/placement.hpp"
#include "nn/safetensors.hpp"
#include "nn/vision_transformer.hpp"

namespace normlab {

// How a VisionTransformer is trained on the digits. The defaults are the run of docs/training.md.
struct TrainDigitsOptions {
  std::string norm = "layernorm";
  Placement placement = Placement::pre;
  std::int64_t layers = 2, width = 48;
  std::string optimizer = "adamw";  // of optimizer_names()
  double lr = 3e-3;                 // the peak
  Decay schedule = Decay::cosine;
  std::int64_t warmup = 100;  // steps
  std::int64_t epochs = 30, batch_size = 32;
  double clip = 1.0;  // of the gradient's norm; 0: none
  double dropout = 0.0;
  std::uint64_t seed = 0;
};

inline constexpr std::int64_t kTrainHeads = 4;  // they divide the width; the ffn is twice as wide
std::vector<std::string> optimizer_names();
UpdateRule update_rule(const std::string& optimizer);
VisionTransformer::Options model_options(const TrainDigitsOptions& options);

// Four fifths of the images, drawn once and for all: the same for every seed, so that runs differ
// in their training and not in what they are tested on. Pixels 0 .. 16 become -1 .. 1.
struct DigitsSplit {
  Digits train, test;
};
DigitsSplit split_digits(const Digits& digits);

struct EpochRecord {
  std::int64_t epoch = 0, step = 0;               // both from 1; the step is the epoch's last
  double lr = 0.0;                                // of that step
  double train_loss = 0.0, train_accuracy = 0.0;  // over the epoch, each batch before its update
  double grad_norm = 0.0;                         // mean over the epoch, before clipping
  double test_loss = 0.0, test_accuracy = 0.0;    // after the epoch
};

// The loss or the gradient's norm was not finite, or the loss was above ten times that of guessing.
struct Divergence {
  std::int64_t step = 0;
  double loss = 0.0, grad_norm = 0.0;
  std::string origin;  // the first op whose result was not finite, or what else is known
};

struct TrainDigitsResult {
  TrainDigitsOptions options;
  std::vector<EpochRecord> epochs;
  std::optional<Divergence> diverged;
};

// What is told after every step.
struct TrainProgress {
  std::int64_t step, steps;
  double loss, accuracy, grad_norm;  // of this step's batch
  std::int64_t tokens;               // since the run started or was resumed
};

struct TrainDigitsHooks {
  std::function<void(const TrainProgress&)> progress{};
  // Called after every `every` steps (0: after every epoch), and at the end.
  std::function<void(const Safetensors&)> checkpoint{};
  std::int64_t every = 0;
};

// Throws std::invalid_argument for options that do not fit together. The result depends on options
// and digits alone, and not on the threads, on checkpoints, or on whether it was resumed.
TrainDigitsResult run_train_digits(const TrainDigitsOptions& options, const Digits& digits,
                                   int threads, const TrainDigitsHooks& hooks = {},
                                   const Safetensors* resume = nullptr);

// The options that a checkpoint was made with. Throws std::runtime_error if it is not one of
// train_digits.
TrainDigitsOptions options_in(const Safetensors& checkpoint, const std::string& source);

std::string text_of(const TrainDigitsResult& result);
std::string json_of(const TrainDigitsResult& result);

// The program: 0; 2 for bad usage; 3 if the training diverged.
inline constexpr int kDiverged = 3;
int train_digits_main(int argc, const char* const* argv);

}  // namespace normlab
