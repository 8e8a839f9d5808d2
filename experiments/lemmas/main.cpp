// Claims: Lemmas 1 to 3 and Theorem 1 of Xiong et al. (2020, section 3), each measured in the
// setting it is proved in, with a verdict. docs/theory.md says what follows from them.
//
//   lemmas --layers 2 4 --width 32 --widths 16 32 --seeds 3
#include "experiments/lab/program/program.hpp"
#include "experiments/lemmas/lemmas.hpp"

namespace normlab::lemmas {

int main(int argc, const char* const* argv) {
  Options options;
  MeanFieldSetting& s = options.setting;
  lab::Program program(
      {.name = "lemmas",
       .description =
           "The lemmas and the theorem of Xiong et al. (2020), measured in their setting",
       .exit_codes = "Exit code: 0; 1 if a claim that is proved in this setting does not hold;\n"
                     "2 for bad usage or bad input."},
      argc, argv);
  lab::Options& o = program.options();
  constexpr std::int64_t kMostTokens = 4096, kMostClasses = 65'536, kMostSeeds = 100'000;
  o.add("--layers", options.depths, lab::Whole{1, 1000}, "depths L, at the width --width");
  o.add("--width", s.width, lab::Whole{3, 8192}, "width d of a token where the depth varies");
  o.add("--widths", options.widths, lab::Whole{3, 8192}, "widths d, at 6 layers");
  o.add("--tokens", s.tokens, lab::Whole{1, kMostTokens}, "tokens of a sequence");
  o.add("--sequences", s.sequences, lab::Whole{1, kMostTokens}, "sequences");
  o.add("--classes", s.classes, lab::Whole{2, kMostClasses}, "classes, one drawn for every token");
  o.add("--seeds", options.seeds, lab::Whole{3, kMostSeeds}, "how many seeds: 0, 1, ...");
  o.add("--input-correlation", s.input.within, lab::AtLeast{0.0},
        "of two tokens of a sequence, from 0 to 1");
  return program.run([&] { check(options); },
                     [&](const lab::Run& run) { return results(measure(options, run)); });
}

}  // namespace normlab::lemmas
