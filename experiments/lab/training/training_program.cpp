// What the command lines of training programs share.
#include "experiments/lab/training/training_program.hpp"

#include <chrono>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "core/atomic_file.hpp"
#include "core/check.hpp"
#include "experiments/lab/program/progress_bar.hpp"

namespace normlab {

namespace {

constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostEpochs = 1'000'000, kMostBatch = 1'000'000;

// Wall time and memory belong to this run, not to its result: they go to standard error.
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

void add_training_options(CLI::App& app, TrainingCommandLine& line, const std::string& examples) {
  TrainingOptions& options = line.training;
  app.add_option("--dropout", options.dropout, "probability of dropout, from 0 to 1")
      ->check(command_line::number_at_least(0.0))
      ->capture_default_str();
  command_line::add_choice(app, "--optimizer", options.optimizer, "the optimizer",
                           optimizer_names());
  app.add_option("--lr", options.lr, "peak learning rate")
      ->check(command_line::number_at_least(0.0))
      ->capture_default_str();
  command_line::add_choice(app, "--schedule", line.schedule, "the rate after the warmup",
                           decay_names())
      ->each([&options](const std::string& chosen) { options.schedule = decay_of(chosen); });
  command_line::add_whole_number(app, "--warmup", options.warmup, 0, kAny,
                                 "steps to the peak rate; 0: none");
  command_line::add_whole_number(app, "--epochs", options.epochs, 1, kMostEpochs,
                                 "passes over the training " + examples);
  command_line::add_whole_number(app, "--batch-size", options.batch_size, 1, kMostBatch,
                                 examples + " per step");
  app.add_option("--clip", options.clip, "largest norm of the gradient; 0: any")
      ->check(command_line::number_at_least(0.0))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of weights, order and dropout")
      ->transform(command_line::seed())
      ->capture_default_str();
}

void add_run_options(CLI::App& app, TrainingCommandLine& line) {
  app.set_version_flag("--version", std::string("normlab ") + NORMLAB_VERSION);
  app.footer("Exit code: 0; 2 for bad usage or bad input; 3 if the training\ndiverged.");
  command_line::add_whole_number(
      app, "--threads", line.threads, 1, command_line::kMostThreads,
      "slices of a batch computed at a time; the\noutput does not depend on it");
  app.add_option("--checkpoint", line.checkpoint, "keep the state of the run in this file")
      ->check(command_line::a_path());
  app.add_option("--checkpoint-every", line.checkpoint_every,
                 "steps from one checkpoint to the next\n[an epoch]")
      ->transform(command_line::whole_number(1, kAny));
  app.add_option("--resume", line.resume,
                 "go on from this checkpoint, with its options;\nthose given here must be the same")
      ->check(command_line::a_path());
  add_outputs(app, line.outputs);
  app.add_flag("--quiet", line.quiet, "no table and no progress");
}

void check_run(const TrainingCommandLine& line) {
  if (!line.quiet) command_line::check_standard_output(line.program);
  check_outputs(line.program, line.outputs, {{"--checkpoint", line.checkpoint}});
  check_different(line.program, {{"--resume", line.resume},
                                 {"--json", line.outputs.json},
                                 {"--report", line.outputs.report}});
  if (!line.checkpoint.empty()) check_writable(line.checkpoint);
}

std::optional<Safetensors> read_resumed(const TrainingCommandLine& line) {
  if (line.resume.empty()) return std::nullopt;
  return read_safetensors(line.resume);
}

void check_as_in_checkpoint(const CLI::App& app, const std::string& program,
                            const nlohmann::ordered_json& given,
                            const nlohmann::ordered_json& theirs) {
  for (const auto& [key, value] : given.items()) {
    const std::string option = fmt::format("--{}", key);
    check(app.count(option) == 0 || theirs.at(key) == value, program, option,
          "must be as in the checkpoint, " + theirs.at(key).dump(), [&] { return value.dump(); });
  }
}

TrainingResult train(const TrainingCommandLine& line, const TrainingTask& task,
                     const Safetensors* resume, const std::function<void(Module&)>& trained) {
  ProgressBar bar(!line.quiet);
  const Clock clock;
  std::int64_t tokens = 0;
  TrainingHooks hooks;
  hooks.every = line.checkpoint_every;
  hooks.trained = trained;
  std::optional<std::int64_t> before;  // steps that the checkpoint had done
  hooks.progress = [&](const TrainingProgress& now) {
    tokens = now.tokens;
    if (!before) before = now.step - 1;
    bar.show(static_cast<double>(now.step - *before), static_cast<double>(now.steps - *before),
             fmt::format("loss {:.4f} {:3.0f} % |g| {:.2f} {:.0f} tok/s", now.loss,
                         100.0 * now.accuracy, now.grad_norm, clock.tokens_per_second(tokens)));
  };
  if (!line.checkpoint.empty()) {
    hooks.checkpoint = [&](const Safetensors& checkpoint) {
      write_safetensors(line.checkpoint, checkpoint);
    };
  }
  TrainingResult result =
      run_training(task, line.training, line.threads, hooks, resume, line.resume);
  if (!line.quiet) {
    bar.wipe();
    fmt::print(stderr, "{}: {:.1f} s, {:.0f} tokens per second, at most {:.0f} MB of memory\n",
               line.program, clock.seconds(), clock.tokens_per_second(tokens), peak_megabytes());
  }
  return result;
}

int exit_code_of(const std::string& program, const TrainingResult& result) {
  if (!result.diverged) return 0;
  fmt::print(stderr, "{}: diverged at step {}: {}\n", program, result.diverged->step,
             result.diverged->origin);
  return kDiverged;
}

}  // namespace normlab
