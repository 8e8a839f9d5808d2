// Times the steps of the default train_digits, for bench/compare_with_pytorch
// (docs/performance.md).
//
// Prints one JSON object: the loss of every step from the first on, and of the measured ones wall
// and processor time per step, in seconds, and the page faults of all of them together. --start
// keeps the weights before the first step, from which bench/pytorch_train_digits.py starts, too.
#include <chrono>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "experiments/lab/training/trainer.hpp"
#include "experiments/tasks/digits_task.hpp"

namespace normlab {

namespace {

// Of the whole process, all threads.
struct Usage {
  double wall, processor;
  long page_faults;

  static Usage now() {
    struct rusage usage {};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return {std::chrono::duration<double>(since).count(),
            seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_minflt};
  }
};

int train_step_main(int argc, const char* const* argv) {
  int threads = 1;
  std::int64_t warm_up = 50, steps = 135;
  std::string start;
  CLI::App app("Times the steps of the default train_digits", "train_step");
  app.add_option("--threads", threads, "as train_digits")->capture_default_str();
  app.add_option("--warm-up", warm_up, "steps before the clock starts")->capture_default_str();
  app.add_option("--steps", steps, "steps that are measured")->capture_default_str();
  app.add_option("--start", start, "keep the weights before the first step in this file");
  CLI11_PARSE(app, argc, argv);

  const TrainDigitsOptions options;
  Trainer trainer(digits_task(options, load_digits()), options.training, threads);
  if (!start.empty()) write_safetensors(start, trainer.checkpoint());
  std::vector<double> losses;
  for (std::int64_t i = 0; i < warm_up; ++i) losses.push_back(trainer.step().loss);
  const Usage before = Usage::now();
  for (std::int64_t i = 0; i < steps; ++i) losses.push_back(trainer.step().loss);
  const Usage after = Usage::now();
  const auto count = static_cast<double>(steps);
  fmt::print("{}\n", nlohmann::json{{"losses", losses},
                                    {"wall", (after.wall - before.wall) / count},
                                    {"processor", (after.processor - before.processor) / count},
                                    {"page_faults", after.page_faults - before.page_faults}}
                         .dump());
  return 0;
}

}  // namespace

}  // namespace normlab

int main(int argc, char** argv) {
  try {
    return normlab::train_step_main(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "train_step: {}\n", error.what());
    return 2;
  }
}
