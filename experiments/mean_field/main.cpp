// The command line of mean_field.
#include <limits>

#include <fmt/format.h>

#include "core/check.hpp"
#include "experiments/lab/program/command_line.hpp"
#include "experiments/lab/program/outputs.hpp"
#include "experiments/lab/program/progress_bar.hpp"
#include "experiments/mean_field/mean_field.hpp"

namespace normlab {

namespace {

constexpr const char* kProgram = "mean_field";
// Of the simplified network only: digits and the article decide them otherwise.
constexpr const char* kSizesOfSimplified[] = {"--width",     "--tokens",  "--sequences",
                                              "--ffn-ratio", "--classes", "--input-correlation"};

struct CommandLine {
  MeanFieldOptions options;
  std::string network = "simplified";
  std::int64_t ffn_ratio = 1;
  Outputs outputs;
  std::string command;  // as the report shows it
  int threads = command_line::default_threads();
  bool quiet = false;
};

void define_sizes(CLI::App& app, CommandLine& line) {
  MeanFieldSetting& s = line.options.setting;
  command_line::add_whole_number(app, "--layers", s.layers, 1, 1000, "depth L");
  command_line::add_whole_number(app, "--seeds", line.options.seeds, 1, 100'000,
                                 "how many seeds: 0, 1, ...");
  command_line::add_whole_number(app, "--width", s.width, 3, 8192, "width d of a token");
  command_line::add_whole_number(app, "--tokens", s.tokens, 1, 4096, "tokens of a sequence");
  command_line::add_whole_number(app, "--sequences", s.sequences, 1, 4096, "sequences");
  command_line::add_whole_number(app, "--ffn-ratio", line.ffn_ratio, 1, 64,
                                 "width of the feed-forward network / d");
  command_line::add_whole_number(app, "--classes", s.classes, 2, 65'536,
                                 "classes, one drawn for every token");
  app.add_option("--input-correlation", s.input.within, "of two tokens of a sequence, from 0 to 1")
      ->check(command_line::number_at_least(0.0))
      ->capture_default_str();
  command_line::add_whole_number(app, "--images", line.options.images, 1,
                                 std::numeric_limits<std::int64_t>::max(),
                                 "digits, with --network article");
}

void define(CLI::App& app, CommandLine& line) {
  app.set_version_flag("--version", std::string("normlab ") + NORMLAB_VERSION);
  app.footer("Exit code: 0; 1 if a number is not finite; 2 for bad usage or bad input.");
  app.add_option("--network", line.network,
                 "simplified: the one the theory is about;\narticle: that of init_gradients, "
                 "on digits")
      ->check(command_line::one_of({"simplified", "article"}))
      ->capture_default_str();
  command_line::add_placements(app, line.options.placements, "placements",
                               {"post", "pre", "res-post"});
  define_sizes(app, line);
  command_line::add_threads(app, line.threads);
  add_outputs(app, line.outputs);
  app.add_flag("--quiet", line.quiet, "no tables and no progress bar");
}

// Everything that can be refused without computing is refused here.
void complete(const CLI::App& app, CommandLine& line) {
  MeanFieldOptions& options = line.options;
  options.setting.ffn = line.ffn_ratio * options.setting.width;
  if (line.network == "article") {
    options.network = MeanFieldOptions::Network::article;
    for (const char* each : kSizesOfSimplified) {
      check(app.count(each) == 0, kProgram, each, "must not be given with --network article",
            "a value");
    }
  } else {
    check(app.count("--images") == 0, kProgram, "--images", "must be given with --network article",
          "--network simplified");
  }
  check_options(options);
  if (!line.quiet) command_line::check_standard_output(kProgram);
  check_outputs(kProgram, line.outputs);
}

int run(const CLI::App& app, CommandLine& line) {
  complete(app, line);
  MeanFieldResult result;
  {
    ProgressBar bar(!line.quiet);
    result = run_mean_field(line.options, load_digits(), line.threads,
                            [&bar](double done, double total) { bar.show(done, total); });
  }
  if (!line.quiet) command_line::print(kProgram, text_of(result));
  write_outputs(
      line.outputs, [&] { return json_of(result); },
      [&] { return report_of(result, line.command); });
  if (result.all_finite()) return 0;
  fmt::print(stderr, "{}: some numbers are not finite\n", kProgram);
  return command_line::kCheckFailed;
}

}  // namespace

int mean_field_main(int argc, const char* const* argv) {
  CommandLine line;
  line.command = command_text(kProgram, argc, argv, {"--json", "--report", "--figures"});
  CLI::App app("Mean-field theory of untrained transformers beside simulation, layer by layer",
               kProgram);
  define(app, line);
  return command_line::run(app, argc, argv, [&] { return run(app, line); });
}

}  // namespace normlab
