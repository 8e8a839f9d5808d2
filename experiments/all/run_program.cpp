// Tested through docs/examples/my_norm by the package test.
#include "experiments/all/run_program.hpp"

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "experiments/attention_logits/attention_logits.hpp"
#include "experiments/compare_norms/compare_norms.hpp"
#include "experiments/discrepancy/discrepancy.hpp"
#include "experiments/gradient_flow/gradient_flow.hpp"
#include "experiments/init_gradients/init_gradients.hpp"
#include "experiments/lab/program/program.hpp"
#include "experiments/lemmas/lemmas.hpp"
#include "experiments/mean_field/mean_field.hpp"
#include "experiments/norm_card/norm_card.hpp"
#include "experiments/train_digits/train_digits.hpp"
#include "experiments/train_translation/train_translation.hpp"
#include "experiments/warmup/warmup.hpp"

namespace normlab {

namespace {

struct Program {
  const char* name;
  int (*main)(int argc, const char* const* argv);
};
constexpr Program kPrograms[] = {{"attention_logits", attention_logits::main},
                                 {"compare_norms", compare_norms::main},
                                 {"discrepancy", discrepancy::main},
                                 {"gradient_flow", gradient_flow::main},
                                 {"init_gradients", init_gradients::main},
                                 {"lemmas", lemmas::main},
                                 {"mean_field", mean_field::main},
                                 {"norm_card", norm_card::main},
                                 {"train_digits", train_digits::main},
                                 {"train_translation", train_translation::main},
                                 {"warmup", warmup::main}};

}  // namespace

int run_program(int argc, const char* const* argv) {
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  std::string names;
  for (const Program& program : kPrograms) {
    if (wanted == program.name) return program.main(argc - 1, argv + 1);
    names += (names.empty() ? "" : ", ") + std::string(program.name);
  }
  if (wanted == "--help") {
    fmt::print("An experiment, then its arguments: {}\n", names);
    return 0;
  }
  lab::say(fmt::format("the first argument must be one of {}, got {}", names,
                       wanted.empty() ? "nothing" : wanted));
  return lab::kBadInput;
}

}  // namespace normlab
