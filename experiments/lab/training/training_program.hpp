#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "experiments/lab/program/command_line.hpp"
#include "experiments/lab/program/outputs.hpp"
#include "experiments/lab/training/training.hpp"

// What the command lines of training programs share. Their course: define options, check_run,
// options from a checkpoint if there is one, train, print and write, exit_code_of.
namespace normlab {

struct TrainingCommandLine {
  std::string program;
  TrainingOptions training{};
  std::string schedule = name(TrainingOptions{}.schedule);
  std::string checkpoint{}, resume{};
  std::string command{};  // as the report shows it
  std::int64_t checkpoint_every = 0;
  Outputs outputs{};
  int threads = command_line::default_threads();
  bool quiet = false;
};

// --optimizer, --lr, ...: what TrainingOptions holds. `examples` is what a batch is made of.
void add_training_options(CLI::App& app, TrainingCommandLine& line, const std::string& examples);
// --threads, --checkpoint, --resume, outputs, --quiet, and what --help ends with.
void add_run_options(CLI::App& app, TrainingCommandLine& line);

// Before any computing: losing one file to another is refused, and so is what cannot be written.
// The checkpoint may be the file that is resumed from.
void check_run(const TrainingCommandLine& line);
std::optional<Safetensors> read_resumed(const TrainingCommandLine& line);
// An option that was given beside --resume with another value than the checkpoint's is refused.
// Both under their names on the command line.
void check_as_in_checkpoint(const CLI::App& app, const std::string& program,
                            const nlohmann::ordered_json& given,
                            const nlohmann::ordered_json& theirs);

// Trains with progress, checkpoints, and a last line with time and memory on standard error.
TrainingResult train(const TrainingCommandLine& line, const TrainingTask& task,
                     const Safetensors* resume, const std::function<void(Module&)>& trained = {});

// 0; or 3, with a line on standard error, if the training diverged.
inline constexpr int kDiverged = 3;
int exit_code_of(const std::string& program, const TrainingResult& result);

}  // namespace normlab
