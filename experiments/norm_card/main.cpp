// What a normalization layer does to values and gradients can be measured before its paper is read.
// Without --norm a table of all registered layers, with it the card of one.
//
//   norm_card --norm layernorm
#include "experiments/lab/program/program.hpp"
#include "experiments/norm_card/norm_card.hpp"

namespace normlab::norm_card {

int main(int argc, const char* const* argv) {
  Options options = everything_registered();
  lab::Program program(
      {.name = "norm_card",
       .description = "The card of a normalization layer: what it computes, declares, and does to\n"
                      "gradients",
       .exit_codes = "Exit code: 0; 1 if a gradient or invariance is wrong; 2 for bad usage.",
       .threads = ""},
      argc, argv);
  lab::Options& o = program.options();
  constexpr std::int64_t kMostWidth = 512;
  o.add("--norm", options.norms, lab::OneOf{nn::norms().names()},
        "the norm; a table of several norms")
      .shown_default("all");
  o.add("--width", options.width, lab::Whole{3, kMostWidth}, "width d of a token");
  o.add("--eps", options.eps, lab::AtLeast{0.0},
        "in place of the layer's own (ignored by layers without one)");
  return program.run([&] { check(options); },
                     [&](const lab::Run& run) { return results(measure(options, run)); });
}

}  // namespace normlab::norm_card
