// The command line of norm_card.
#include <algorithm>

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

bool passed(const NormCard& card) {
  constexpr double kGradient = 1e-6, kHolds = 1e-4;  // eps moves scale invariance by about 1e-5
  return card.gradient_error < kGradient &&
         std::all_of(card.invariances.begin(), card.invariances.end(),
                     [](const MeasuredInvariance& each) {
                       return each.declared ? each.violation < kHolds : each.violation > kHolds;
                     });
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
  if (std::all_of(cards.begin(), cards.end(), passed)) return 0;
  fmt::print(stderr, "{}: a gradient or a promised invariance is not what it should be\n",
             kProgram);
  return command_line::kCheckFailed;
}

}  // namespace

int norm_card_main(int argc, const char* const* argv) {
  CommandLine line;
  CLI::App app(
      "The card of a normalization layer: what it computes, promises and does to gradients",
      kProgram);
  app.set_version_flag("--version", std::string("normlab ") + NORMLAB_VERSION);
  app.footer("Exit code: 0; 1 if a gradient or invariance is wrong; 2 for bad usage or bad input.");
  std::string norms = "one of:";
  for (const NormEntry& entry : nn::norms()) norms += "\n" + entry.name;
  app.add_option("--norm", line.norm, norms + "\n[a table of all]")
      ->check(command_line::one_of(nn::norms().names()));
  app.add_option("--width", line.width, "width d of a token")
      ->transform(command_line::whole_number(3, 512))
      ->capture_default_str();
  app.add_option("--eps", line.eps, "in place of the layer's own");
  app.add_option("--json", line.json, "also write the cards to this file")
      ->check(command_line::a_path());
  return command_line::run(app, argc, argv, [&] { return run(line); });
}

}  // namespace normlab
