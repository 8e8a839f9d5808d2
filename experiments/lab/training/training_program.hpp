#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "experiments/lab/program/options.hpp"
#include "experiments/lab/runs/run.hpp"
#include "experiments/lab/training/training.hpp"

// What training programs add to the shell of every program: options of a training, checkpoints, and
// a run that goes on from one.
namespace normlab {

// Where a run keeps its state, and where it starts from.
struct Checkpoints {
  std::string file{}, resume{};  // of --checkpoint and --resume; empty if not given
  std::int64_t every = 0;        // steps; 0: an epoch
  std::optional<Safetensors> resumed{};
};

// --optimizer, --lr, ...: what TrainingOptions holds. `examples` is what a batch is made of.
void add_training_options(lab::Options& options, TrainingOptions& training,
                          const std::string& examples);
// --checkpoint, which may be the file of --resume, --checkpoint-every and --resume.
void add_checkpoint_options(lab::Options& options, Checkpoints& checkpoints);

// Reads the file of --resume into `resumed`, and returns the options that its run had, as texts
// under their keys. Checks before that no file is named twice. A program keeps them in the metadata
// under "normlab.<program>".
std::map<std::string, std::string> read_resumed(const lab::Options& options,
                                                Checkpoints& checkpoints,
                                                const std::string& program);
// Makes them the options of this run. Those that were given must be the same.
void take_options(lab::Options& options, const std::map<std::string, std::string>& theirs,
                  const Checkpoints& checkpoints, const std::string& program);

// Trains with progress and checkpoints, and remarks on time and memory at the end. A signal stops
// it after a last checkpoint: Interrupted.
TrainingResult train(const TrainingTask& task, const TrainingOptions& training,
                     const Checkpoints& checkpoints, const lab::Run& run,
                     const std::function<void(Module&)>& trained = {});

}  // namespace normlab
