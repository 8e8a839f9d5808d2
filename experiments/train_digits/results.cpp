// Tested by tests/experiments/train_digits/train_digits_test.cpp.
#include <fmt/format.h>

#include "experiments/lab/training/training_results.hpp"
#include "experiments/train_digits/train_digits.hpp"

namespace normlab::train_digits {

lab::Results results(const Options& options, const TrainingResult& trained) {
  lab::Results results{
      .title = "A vision transformer trained on digits",
      .heading = fmt::format("{} ({}), {} of width {}\n{}", title(options.placement), options.norm,
                             counted(options.layers, "layer"), options.width,
                             training_text(options.training))};
  add_training(results, trained, "image");
  return results;
}

}  // namespace normlab::train_digits
