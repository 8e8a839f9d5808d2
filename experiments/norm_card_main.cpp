// The command line of norm_card.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.hpp"
#include "experiments/atomic_file.hpp"
#include "experiments/command_line.hpp"
#include "experiments/norm_card.hpp"

namespace normlab {

namespace {

constexpr const char* kProgram = "norm_card";

struct CommandLine {
  std::string norm, json;
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
  if (!line.json.empty()) check_writable(line.json);
  command_line::check_standard_output(kProgram);
  const std::vector<std::string> names =
      line.norm.empty() ? nn::norms().names() : std::vector<std::string>{line.norm};
  std::vector<NormCard> cards;
  for (const std::string& each : names) cards.push_back(norm_card(each, line.width, line.eps));
  command_line::print(kProgram, line.norm.empty() ? table_of(cards) : text_of(cards.front()));
  if (!line.json.empty()) write_atomically(line.json, json_of(cards));
  std::string wrong;
  for (const NormCard& card : cards) wrong += faults(card);
  if (wrong.empty()) return 0;
  fmt::print(stderr, "{}", wrong);
  return command_line::kCheckFailed;
}

}  // namespace

int norm_card_main(int argc, const char* const* argv) {
  CommandLine line;
  CLI::App app(
      "The card of a normalization layer: what it computes, promises, and does to\ngradients",
      kProgram);
  app.set_version_flag("--version", std::string("normlab ") + NORMLAB_VERSION);
  app.footer("Exit code: 0; 1 if a gradient or invariance is wrong; 2 for bad usage.");
  std::string norms = "one of:";
  for (const NormEntry& entry : nn::norms()) norms += "\n" + entry.name;
  app.add_option("--norm", line.norm, norms + "\n[a table of all]")
      ->check(command_line::one_of(nn::norms().names()));
  app.add_option("--width", line.width, "width d of a token")
      ->transform(command_line::whole_number(3, 512))
      ->capture_default_str();
  app.add_option("--eps", line.eps, "in place of the layer's own (ignored by layers without)")
      ->check(command_line::number_at_least(0.0));
  app.add_option("--json", line.json, "also write the cards to this file")
      ->check(command_line::a_path());
  return command_line::run(app, argc, argv, [&] { return run(line); });
}

}  // namespace normlab
