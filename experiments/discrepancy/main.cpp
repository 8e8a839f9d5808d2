// Xiong et al. (2020, Figure 3) measure a last-layer gradient that does not depend on the depth of
// a post-norm transformer and that grows from layer to layer; on digits it grows with depth and is
// level over layers. Which of the many differences between the two experiments is the reason?
// docs/discrepancy.md tells what the default run answers; it takes some minutes.
//
//   discrepancy --ablations article token_labels cross_attention --layers 2 4 --seeds 0 1
#include <limits>

#include "experiments/discrepancy/discrepancy.hpp"
#include "experiments/lab/program/program.hpp"

namespace normlab::discrepancy {

int main(int argc, const char* const* argv) {
  Options options;
  std::vector<std::string> names = ablation_names();
  lab::Program program(
      {.name = "discrepancy",
       .description = "Why gradients of untrained transformers on digits differ from those that\n"
                      "Xiong et al. (2020) measured: one change of the setup at a time",
       .exit_codes = "Exit code: 0; 1 if a number is not finite; 2 for bad usage or bad input.",
       .resume = "note finished configurations in this file, and do not compute those again that "
                 "it has"},
      argc, argv);
  lab::Options& o = program.options();
  o.add("--ablations", names, lab::OneOf{ablation_names()}, "which setups").shown_default("all");
  o.add("--layers", options.layers, lab::Whole{1, 1000}, "depths, at least two");
  o.add("--seeds", options.seeds, lab::AnySeed{}, "seeds of the weights");
  o.add("--large-seeds", options.large_seeds,
        lab::Whole{1, std::numeric_limits<std::int32_t>::max()},
        "how many of them for width 256 and more");
  const auto check_all = [&] {
    options.ablations = ablations_named(names);
    check(options);
  };
  return program.run(check_all,
                     [&](const lab::Run& run) { return results(measure(options, run)); });
}

}  // namespace normlab::discrepancy
