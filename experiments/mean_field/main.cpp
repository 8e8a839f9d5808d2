// Claim: in a wide network every moment of the residual stream and the size of every gradient
// follow from a recursion over the layers. Xiong et al. (2020) bound some of them; here all are
// computed, and simulated beside. docs/theory.md derives the recursion.
//
//   mean_field --layers 2 --width 16 --tokens 3 --sequences 2 --seeds 3
#include "core/check.hpp"
#include "experiments/lab/program/program.hpp"
#include "experiments/mean_field/mean_field.hpp"

namespace normlab::mean_field {

namespace {

// Digits and the article's network decide these otherwise.
constexpr const char* kSizesOfSimplified[] = {"--width",     "--tokens",  "--sequences",
                                              "--ffn-ratio", "--classes", "--input-correlation"};

void check_given(const Options& options, const lab::Options& given) {
  for (const char* flag : kSizesOfSimplified) {
    normlab::check(!options.article() || !given.given(flag), "mean_field", flag,
                   "must not be given with --network article", "a value");
  }
  normlab::check(options.article() || !given.given("--images"), "mean_field", "--images",
                 "must be given with --network article", "--network simplified");
}

}  // namespace

int main(int argc, const char* const* argv) {
  Options options;
  MeanFieldSetting& s = options.setting;
  lab::Program program(
      {.name = "mean_field",
       .description =
           "Mean-field theory of untrained transformers beside simulation, layer by layer",
       .exit_codes = "Exit code: 0; 1 if a number is not finite; 2 for bad usage or bad input."},
      argc, argv);
  lab::Options& o = program.options();
  constexpr std::int64_t kMostTokens = 4096, kMostClasses = 65'536, kMostSeeds = 100'000;
  o.add("--network", options.network, lab::OneOf{{"simplified", "article"}},
        "that of the theory, or that of init_gradients on digits");
  o.add("--placement", options.placements, lab::OneOf{{"post", "pre", "res-post"}}, "placements");
  o.add("--layers", s.layers, lab::Whole{1, 1000}, "depth L");
  o.add("--seeds", options.seeds, lab::Whole{1, kMostSeeds}, "how many seeds: 0, 1, ...");
  o.add("--width", s.width, lab::Whole{3, 8192}, "width d of a token");
  o.add("--tokens", s.tokens, lab::Whole{1, kMostTokens}, "tokens of a sequence");
  o.add("--sequences", s.sequences, lab::Whole{1, kMostTokens}, "sequences");
  o.add("--ffn-ratio", options.ffn_ratio, lab::Whole{1, 64},
        "width of the feed-forward network / d");
  o.add("--classes", s.classes, lab::Whole{2, kMostClasses}, "classes, one drawn for every token");
  o.add("--input-correlation", s.input.within, lab::AtLeast{0.0},
        "of two tokens of a sequence, from 0 to 1");
  o.add("--images", options.images, lab::Whole{1, 1797}, "digits, with --network article");
  return program.run([&] { check_given(options, o), check(options); },
                     [&](const lab::Run& run) { return results(measure(options, run)); });
}

}  // namespace normlab::mean_field
