// The command line of train_digits.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "experiments/lab/training/training_json.hpp"
#include "experiments/lab/training/training_program.hpp"
#include "experiments/lab/training/training_report.hpp"
#include "experiments/tasks/digits_task.hpp"
#include "experiments/train_digits/train_digits.hpp"
#include "nn/norms/norm_registry.hpp"

namespace normlab {

namespace {

constexpr const char* kProgram = "train_digits";
constexpr std::int64_t kMostLayers = 1000, kMostWidth = 4096;

struct CommandLine {
  TrainDigitsOptions options;  // but for what `run` holds
  TrainingCommandLine run;
};

void define(CLI::App& app, CommandLine& line) {
  TrainDigitsOptions& options = line.options;
  command_line::add_choice(app, "--norm", options.norm, "the norm", nn::norms().names());
  command_line::add_placement(app, options.placement, "its placement", nn::placements().names());
  command_line::add_whole_number(app, "--layers", options.layers, 1, kMostLayers, "blocks");
  command_line::add_whole_number(app, "--width", options.width, 1, kMostWidth,
                                 "width d of a token; a multiple of the 4 heads");
  add_training_options(app, line.run, "images");
  add_run_options(app, line.run);
}

std::string title_of(const TrainDigitsOptions& options) {
  return fmt::format("{}-norm ({}), {} layers of width {}\n{}", name(options.placement),
                     options.norm, options.layers, options.width, title_of(options.training));
}

Report page_of(const TrainDigitsOptions& options, const TrainingResult& result,
               const std::string& command) {
  std::vector<std::pair<std::string, std::string>> configuration{
      {"normlab", NORMLAB_VERSION},
      {"norm", options.norm},
      {"placement", name(options.placement)},
      {"layers", std::to_string(options.layers)},
      {"width", std::to_string(options.width)}};
  add_configuration(configuration, options.training);
  return training_report("A vision transformer trained on digits", command, configuration, result,
                         "image");
}

int run(const CLI::App& app, CommandLine line) {
  line.options.training = line.run.training;
  check_run(line.run);
  const std::optional<Safetensors> resume = read_resumed(line.run);
  if (resume) {
    const TrainDigitsOptions theirs = digits_options_in(*resume, line.run.resume);
    check_as_in_checkpoint(app, kProgram, json_of(line.options), json_of(theirs));
    line.options = theirs;
    line.run.training = theirs.training;
  }
  const TrainingResult result =
      train(line.run, digits_task(line.options, load_digits()), resume ? &*resume : nullptr);
  if (!line.run.quiet) {
    command_line::print(kProgram, title_of(line.options) + "\n" + text_of(result));
  }
  write_outputs(
      line.run.outputs,
      [&] { return json_of(kProgram, json_of(line.options), result).dump(1) + "\n"; },
      [&] { return page_of(line.options, result, line.run.command); });
  return exit_code_of(kProgram, result);
}

}  // namespace

int train_digits_main(int argc, const char* const* argv) {
  CommandLine line;
  line.run.program = kProgram;
  line.run.command = command_text(kProgram, argc, argv,
                                  {"--checkpoint", "--resume", "--json", "--report", "--figures"});
  CLI::App app("Trains a vision transformer on 1,797 digits, with any norm and placement",
               kProgram);
  define(app, line);
  return command_line::run(app, argc, argv, [&] { return run(app, line); });
}

}  // namespace normlab
