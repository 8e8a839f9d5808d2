// Tested through the programs by tests/experiments.
#include "experiments/lab/training/training_program.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "experiments/lab/runs/jobs.hpp"
#include "experiments/lab/training/training_json.hpp"
#include "nn/optim/learning_rate.hpp"

namespace normlab {

namespace {

constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostEpochs = 1'000'000, kMostBatch = 1'000'000;

// Wall time and memory belong to this run, not to its result.
class Clock {
 public:
  double tokens_per_second(std::int64_t tokens) const {
    return static_cast<double>(tokens) / std::max(seconds(), 1e-9);
  }
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

double peak_megabytes() {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

}  // namespace

void add_training_options(lab::Options& options, TrainingOptions& training,
                          const std::string& examples) {
  options.add("--dropout", training.dropout, lab::AtLeast{0.0},
              "probability of dropout, from 0 to 1");
  options.add("--optimizer", training.optimizer, lab::OneOf{optimizer_names()}, "the optimizer");
  options.add("--lr", training.lr, lab::AtLeast{0.0}, "peak learning rate");
  options.add("--schedule", training.schedule, lab::OneOf{decay_names()},
              "the rate after the warmup");
  options.add("--warmup", training.warmup, lab::Whole{0, kAny}, "steps to the peak rate; 0: none");
  options.add("--epochs", training.epochs, lab::Whole{1, kMostEpochs},
              "passes over the training " + examples);
  options.add("--batch-size", training.batch_size, lab::Whole{1, kMostBatch},
              examples + " per step");
  options.add("--clip", training.clip, lab::AtLeast{0.0}, "largest norm of the gradient; 0: any");
  options.add("--seed", training.seed, lab::AnySeed{}, "of weights, order and dropout");
}

void add_checkpoint_options(lab::Options& options, Checkpoints& checkpoints) {
  using Use = lab::File::Use;
  options.add("--checkpoint", checkpoints.file, lab::File{Use::written, "--resume"},
              "keep the state of the run in this file");
  options
      .add("--checkpoint-every", checkpoints.every, lab::Whole{1, kAny},
           "steps from one checkpoint to the next")
      .shown_default("an epoch")
      .unlisted();
  options.add("--resume", checkpoints.resume, lab::File{Use::read},
              "go on from this checkpoint, with its options; those given here must be the same");
}

std::map<std::string, std::string> read_resumed(const lab::Options& options,
                                                Checkpoints& checkpoints,
                                                const std::string& program) {
  options.check_files();
  checkpoints.resumed = read_safetensors(checkpoints.resume);
  std::map<std::string, std::string> texts;
  read_entry(*checkpoints.resumed, "normlab." + program, program, checkpoints.resume,
             [&](const nlohmann::ordered_json& json) {
               for (const auto& item : json.items()) {
                 const auto& value = item.value();
                 texts[item.key()] = value.is_string() ? value.get<std::string>() : value.dump();
               }
             });
  return texts;
}

void take_options(lab::Options& options, const std::map<std::string, std::string>& theirs,
                  const Checkpoints& checkpoints, const std::string& program) {
  try {
    options.take(theirs);
  } catch (const std::runtime_error& error) {
    fail_checkpoint(program, checkpoints.resume,
                    fmt::format("its normlab.{} cannot be read: {}", program, error.what()));
  }
}

TrainingResult train(const TrainingTask& task, const TrainingOptions& training,
                     const Checkpoints& checkpoints, const lab::Run& run,
                     const std::function<void(Module&)>& trained) {
  const Clock clock;
  std::int64_t tokens = 0;
  TrainingHooks hooks{.every = checkpoints.every, .stop = stop_was_asked, .trained = trained};
  std::optional<std::int64_t> before;  // steps that the checkpoint had done
  hooks.progress = [&](const TrainingProgress& now) {
    tokens = now.tokens;
    if (!before) before = now.step - 1;
    if (!run.noted_progress) return;
    run.noted_progress(
        static_cast<double>(now.step - *before), static_cast<double>(now.steps - *before),
        fmt::format("loss {:.4f} {:3.0f} % |g| {:.2f} {:.0f} tok/s", now.loss, 100.0 * now.accuracy,
                    now.grad_norm, clock.tokens_per_second(tokens)));
  };
  if (!checkpoints.file.empty()) {
    hooks.checkpoint = [&](const Safetensors& checkpoint) {
      write_safetensors(checkpoints.file, checkpoint);
    };
  }
  const Safetensors* resumed = checkpoints.resumed ? &*checkpoints.resumed : nullptr;
  TrainingResult result;
  try {
    result = run_training(task, training, run.threads, hooks, resumed, checkpoints.resume);
  } catch (const Interrupted&) {
    throw Interrupted(checkpoints.file.empty() ? "nothing is kept without --checkpoint"
                                               : "--resume goes on from " + checkpoints.file);
  }
  if (run.remark) {
    run.remark(fmt::format("{:.1f} s, {:.0f} tokens per second, at most {:.0f} MB of memory",
                           clock.seconds(), clock.tokens_per_second(tokens), peak_megabytes()));
  }
  return result;
}

}  // namespace normlab
