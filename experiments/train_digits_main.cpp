// The command line of train_digits.
#include <chrono>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "core/atomic_file.hpp"
#include "core/check.hpp"
#include "experiments/command_line.hpp"
#include "experiments/outputs.hpp"
#include "experiments/progress_bar.hpp"
#include "experiments/train_digits_options.hpp"
#include "experiments/train_digits_report.hpp"
#include "nn/norms.hpp"

namespace normlab {

namespace {

constexpr const char* kProgram = "train_digits";
constexpr std::int64_t kMostLayers = 1000, kMostWidth = 4096, kMostEpochs = 1'000'000;

struct CommandLine {
  TrainDigitsOptions options;
  std::string placement = name(TrainDigitsOptions{}.placement);
  std::string schedule = name(TrainDigitsOptions{}.schedule);
  std::string checkpoint, resume;
  Outputs outputs;
  std::string command;  // as the report shows it
  std::int64_t checkpoint_every = 0;
  int threads = command_line::default_threads();
  bool quiet = false;
};

void define_model(CLI::App& app, CommandLine& line) {
  TrainDigitsOptions& options = line.options;
  command_line::add_choice(app, "--norm", options.norm, "the norm", nn::norms().names());
  command_line::add_choice(app, "--placement", line.placement, "its placement",
                           nn::placements().names());
  command_line::add_whole_number(app, "--layers", options.layers, 1, kMostLayers, "blocks");
  command_line::add_whole_number(app, "--width", options.width, 1, kMostWidth,
                                 "width d of a token; a multiple of the 4 heads");
  app.add_option("--dropout", options.dropout, "probability of dropout, from 0 to 1")
      ->check(command_line::number_at_least(0.0))
      ->capture_default_str();
}

void define_training(CLI::App& app, CommandLine& line) {
  TrainDigitsOptions& options = line.options;
  command_line::add_choice(app, "--optimizer", options.optimizer, "the optimizer",
                           optimizer_names());
  app.add_option("--lr", options.lr, "peak learning rate")
      ->check(command_line::number_at_least(0.0))
      ->capture_default_str();
  command_line::add_choice(app, "--schedule", line.schedule, "the rate after the warmup",
                           decay_names());
  command_line::add_whole_number(app, "--warmup", options.warmup, 0,
                                 std::numeric_limits<std::int64_t>::max(),
                                 "steps to the peak rate; 0: none");
  command_line::add_whole_number(app, "--epochs", options.epochs, 1, kMostEpochs,
                                 "passes over the training images");
  command_line::add_whole_number(app, "--batch-size", options.batch_size, 1, 1'000'000,
                                 "images per step");
  app.add_option("--clip", options.clip, "largest norm of the gradient; 0: any")
      ->check(command_line::number_at_least(0.0))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of weights, order and dropout")
      ->transform(command_line::seed())
      ->capture_default_str();
}

void define(CLI::App& app, CommandLine& line) {
  app.set_version_flag("--version", std::string("normlab ") + NORMLAB_VERSION);
  app.footer("Exit code: 0; 2 for bad usage or bad input; 3 if the training\ndiverged.");
  define_model(app, line);
  define_training(app, line);
  command_line::add_whole_number(
      app, "--threads", line.threads, 1, command_line::kMostThreads,
      "slices of a batch computed at a time; the\noutput does not depend on it");
  app.add_option("--checkpoint", line.checkpoint, "keep the state of the run in this file")
      ->check(command_line::a_path());
  app.add_option("--checkpoint-every", line.checkpoint_every,
                 "steps from one checkpoint to the next\n[an epoch]")
      ->transform(command_line::whole_number(1, std::numeric_limits<std::int64_t>::max()));
  app.add_option("--resume", line.resume,
                 "go on from this checkpoint, with its options;\nthose given here must be the same")
      ->check(command_line::a_path());
  add_outputs(app, line.outputs);
  app.add_flag("--quiet", line.quiet, "no table and no progress");
}

// The checkpoint's options; one that was given with another value is refused.
TrainDigitsOptions resumed_options(const CLI::App& app, const CommandLine& line,
                                   const Safetensors& checkpoint) {
  const TrainDigitsOptions options = options_in(checkpoint, line.resume);
  const auto theirs = json_of(options), given = json_of(line.options);
  for (const auto& [key, value] : given.items()) {
    const std::string option = fmt::format("--{}", key);
    check(app.count(option) == 0 || theirs[key] == value, kProgram, option,
          "must be as in the checkpoint, " + theirs[key].dump(), [&] { return value.dump(); });
  }
  return options;
}

// Losing one file to another is refused before the training, and so is what cannot be written. The
// checkpoint may be the file that is resumed from.
void check_files(const CommandLine& line) {
  check_outputs(kProgram, line.outputs, {{"--checkpoint", line.checkpoint}});
  check_different(kProgram, {{"--resume", line.resume},
                             {"--json", line.outputs.json},
                             {"--report", line.outputs.report}});
  if (!line.checkpoint.empty()) check_writable(line.checkpoint);
}

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

TrainDigitsResult train(const CommandLine& line, const Safetensors* resume) {
  ProgressBar bar(!line.quiet);
  const Clock clock;
  std::int64_t tokens = 0;
  TrainDigitsHooks hooks;
  hooks.every = line.checkpoint_every;
  std::optional<std::int64_t> before;  // steps that the checkpoint had done
  hooks.progress = [&](const TrainProgress& now) {
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
  TrainDigitsResult result =
      run_train_digits(line.options, load_digits(), line.threads, hooks, resume);
  if (!line.quiet) {
    bar.wipe();
    fmt::print(stderr, "{}: {:.1f} s, {:.0f} tokens per second, at most {:.0f} MB of memory\n",
               kProgram, clock.seconds(), clock.tokens_per_second(tokens), peak_megabytes());
  }
  return result;
}

int run(const CLI::App& app, CommandLine line) {
  line.options.placement = nn::placements().at(line.placement).placement;
  line.options.schedule = decay_of(line.schedule);
  if (!line.quiet) command_line::check_standard_output(kProgram);
  check_files(line);
  std::optional<Safetensors> resume;
  if (!line.resume.empty()) {
    resume = read_safetensors(line.resume);
    line.options = resumed_options(app, line, *resume);
  }
  const TrainDigitsResult result = train(line, resume ? &*resume : nullptr);
  if (!line.quiet) command_line::print(kProgram, text_of(result));
  write_outputs(
      line.outputs, [&] { return json_of(result); },
      [&] { return report_of(result, line.command); });
  if (!result.diverged) return 0;
  fmt::print(stderr, "{}: diverged at step {}: {}\n", kProgram, result.diverged->step,
             result.diverged->origin);
  return kDiverged;
}

}  // namespace

int train_digits_main(int argc, const char* const* argv) {
  CommandLine line;
  line.command = command_text(kProgram, argc, argv,
                              {"--checkpoint", "--resume", "--json", "--report", "--figures"});
  CLI::App app("Trains a vision transformer on 1,797 digits, with any norm and placement",
               kProgram);
  define(app, line);
  return command_line::run(app, argc, argv, [&] { return run(app, line); });
}

}  // namespace normlab
