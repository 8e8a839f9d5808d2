#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nn/checkpoint/safetensors.hpp"
#include "nn/module.hpp"
#include "nn/optim/update_rules.hpp"

// What all programs that train share: how a model is trained, what a task is, what is recorded.
namespace normlab {

// The defaults are those of train_digits (docs/training.md).
struct TrainingOptions {
  double dropout = 0.0;
  std::string optimizer = "adamw";  // of optimizer_names()
  double lr = 3e-3;                 // the peak
  std::string schedule = "cosine";  // of decay_names()
  std::int64_t warmup = 100;        // steps
  std::int64_t epochs = 30, batch_size = 32;
  double clip = 1.0;  // of the gradient's norm; 0: none
  std::uint64_t seed = 0;
};

// -sum p ln p of the frequencies p that these counts have.
double entropy(const std::vector<std::int64_t>& counts);

// How many rows of the logits (rows, outcomes) are largest at their target. Rows whose target is
// `ignored` count for nothing.
std::int64_t count_right(const Tensor& logits, const std::vector<std::int64_t>& targets,
                         std::optional<std::int64_t> ignored = std::nullopt);

std::vector<std::string> optimizer_names();
// Throws std::invalid_argument for another name; `program` stands in its message.
UpdateRule update_rule(const std::string& program, const std::string& optimizer);

// A model and examples to train it on. An example makes one or more predictions: an image one, a
// sentence one for each of its tokens. Losses and accuracies are means over predictions.
struct TrainingTask {
  std::string program;  // whose task it is, for messages

  struct Set {
    std::vector<std::int64_t> predictions;  // of each example
    std::vector<std::int64_t> tokens;       // that each example brings into the model
    std::int64_t size() const { return static_cast<std::int64_t>(predictions.size()); }
  };
  Set train, test;

  std::function<std::unique_ptr<Module>(Generator& weights)> make_model;

  struct Pass {
    Var loss;  // the sum over predictions
    std::int64_t correct = 0;
  };
  // The examples at these positions of the training or the test set through the model.
  enum class Part { train, test };
  std::function<Pass(Module& model, Tape& tape, Part part,
                     const std::vector<std::int64_t>& positions)>
      pass;

  std::int64_t slice = 16;    // examples that go through the model at a time
  std::int64_t outcomes = 2;  // that a prediction can have: ln(outcomes) is the loss of guessing
  // Entropy of the training set's outcomes: the mean loss of a prediction that ignores the input.
  double chance_loss = 1.0;
  // Kept in checkpoints: what the task was made from.
  std::map<std::string, std::string> metadata{};
};

struct EpochRecord {
  std::int64_t epoch = 0, step = 0;               // both from 1; the step is the epoch's last
  double lr = 0.0;                                // of that step
  double train_loss = 0.0, train_accuracy = 0.0;  // over the epoch, each batch before its update
  double grad_norm = 0.0;                         // mean over the epoch, before clipping
  double test_loss = 0.0, test_accuracy = 0.0;    // after the epoch
};

// The loss or the gradient's norm was not finite, or the loss was above ten times that of guessing;
// or the loss on the test set was not finite after this step.
struct Divergence {
  std::int64_t step = 0;
  double loss = 0.0, grad_norm = 0.0;
  std::string origin;  // the first op whose result was not finite, or what else is known
};

struct TrainingResult {
  std::vector<EpochRecord> epochs;
  std::optional<Divergence> diverged;
};

// What is told after every step.
struct TrainingProgress {
  std::int64_t step, steps;
  double loss, accuracy, grad_norm;  // of this step's batch
  std::int64_t tokens;               // since the run started or was resumed
};

struct TrainingHooks {
  std::function<void(const TrainingProgress&)> progress{};
  // Called after every `every` steps (0: after every epoch), at the end, and before a stop.
  std::function<void(const Safetensors&)> checkpoint{};
  std::int64_t every = 0;
  // Asked after every step but the last; if true, run_training throws Interrupted.
  std::function<bool()> stop{};
  // Called once, at the end of a run that did not diverge.
  std::function<void(Module&)> trained{};
};

// Throws std::invalid_argument for options that do not fit together. The result depends on task and
// options alone, and not on the threads, on checkpoints, or on whether it was resumed.
// `resume_name` names the checkpoint in messages.
TrainingResult run_training(const TrainingTask& task, const TrainingOptions& options, int threads,
                            const TrainingHooks& hooks = {}, const Safetensors* resume = nullptr,
                            const std::string& resume_name = "--resume");

}  // namespace normlab
