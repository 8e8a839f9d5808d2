// Without query-key normalization, growing query and key weights make attention one-hot, as ViT-22B
// met it at logits past 50,000 (Dehghani et al. 2023, section 3.1); with it they cannot.
//
//   attention_logits --qk-norm none layernorm
#include "experiments/attention_logits/attention_logits.hpp"
#include "experiments/lab/program/program.hpp"

namespace normlab::attention_logits {

int main(int argc, const char* const* argv) {
  Options options;
  lab::Program program(
      {.name = "attention_logits",
       .description =
           "Attention logits and entropy against the size of the query and key weights,\n"
           "without and with query-key normalization",
       .exit_codes = "Exit code: 0; 1 if a logit is above its bound or a number\nnot finite; 2 for "
                     "bad usage."},
      argc, argv);
  lab::Options& o = program.options();
  constexpr std::int64_t kMostWidth = 4096, kImages = 1797;
  o.add("--qk-norm", options.variants, lab::OneOf{known_variants()},
        "normalization of queries and keys");
  o.add("--scale", options.scales, lab::AtLeast{0.0}, "what W_Q and W_K are multiplied by");
  o.add("--seeds", options.seeds, lab::AnySeed{}, "seeds of the weights");
  o.add("--width", options.width, lab::Whole{1, kMostWidth}, "width d of a token");
  o.add("--heads", options.heads, lab::Whole{1, kMostWidth},
        "attention heads; they divide the width");
  o.add("--images", options.images, lab::Whole{1, kImages},
        "how many of the digits, from the first");
  return program.run([&] { check(options); },
                     [&](const lab::Run& run) { return results(measure(options, run)); });
}

}  // namespace normlab::attention_logits
