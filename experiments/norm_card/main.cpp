// The command line of norm_card.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/atomic_file.hpp"
#include "core/check.hpp"
#include "experiments/lab/program/command_line.hpp"
#include "experiments/lab/program/outputs.hpp"
#include "experiments/norm_card/report.hpp"

namespace normlab {

namespace {

constexpr const char* kProgram = "norm_card";

struct CommandLine {
  std::string norm, command;
  Outputs outputs;
  std::int64_t width = 16;
  std::optional<double> eps;
};

// What is not as it should be, a line each.
std::string faults(const NormCard& card) {
  constexpr double kGradient = 1e-6, kHolds = 1e-4;  // eps moves scale invariance by about 1e-5
  std::string lines;
  if (!(card.gradient_error < kGradient)) {
    lines += fmt::format("{}: {}: the gradient is wrong, relative error {:.1e}\n", kProgram,
                         card.entry.name, card.gradient_error);
  }
  for (const MeasuredInvariance& each : card.invariances) {
    if ((each.violation < kHolds) == each.declared) continue;
    lines += fmt::format("{}: {}: {} is {}promised, but the violation is {:.1e}\n", kProgram,
                         card.entry.name, each.name, each.declared ? "" : "not ", each.violation);
  }
  return lines;
}

int run(const CommandLine& line) {
  command_line::check_standard_output(kProgram);
  check_outputs(kProgram, line.outputs);
  const std::vector<std::string> names =
      line.norm.empty() ? nn::norms().names() : std::vector<std::string>{line.norm};
  std::vector<NormCard> cards;
  for (const std::string& each : names) cards.push_back(norm_card(each, line.width, line.eps));
  command_line::print(kProgram, line.norm.empty() ? table_of(cards) : text_of(cards.front()));
  write_outputs(
      line.outputs, [&] { return json_of(cards); }, [&] { return report_of(cards, line.command); });
  std::string wrong;
  for (const NormCard& card : cards) wrong += faults(card);
  if (wrong.empty()) return 0;
  fmt::print(stderr, "{}", wrong);
  return command_line::kCheckFailed;
}

}  // namespace

int norm_card_main(int argc, const char* const* argv) {
  CommandLine line;
  line.command = command_text(kProgram, argc, argv, {"--json", "--report", "--figures"});
  CLI::App app(
      "The card of a normalization layer: what it computes, promises, and does to\ngradients",
      kProgram);
  app.set_version_flag("--version", std::string("normlab ") + NORMLAB_VERSION);
  app.footer("Exit code: 0; 1 if a gradient or invariance is wrong; 2 for bad usage.");
  command_line::add_choice(app, "--norm", line.norm, "the norm (a table without)",
                           nn::norms().names())
      ->default_str("all");
  app.add_option("--width", line.width, "width d of a token")
      ->transform(command_line::whole_number(3, 512))
      ->capture_default_str();
  app.add_option("--eps", line.eps, "in place of the layer's own (ignored by\nlayers without one)")
      ->check(command_line::number_at_least(0.0));
  add_outputs(app, line.outputs);
  return command_line::run(app, argc, argv, [&] { return run(line); });
}

}  // namespace normlab
