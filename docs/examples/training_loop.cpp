// docs/training.md: a training loop of one's own.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/kernels/blas.hpp"
#include "core/ops/cross_entropy.hpp"
#include "data/digits.hpp"
#include "nn/models/vision_transformer.hpp"
#include "nn/optim/gradient_clipping.hpp"
#include "nn/optim/learning_rate.hpp"
#include "nn/optim/optimizer.hpp"

using namespace normlab;

// The share of images that the model classifies rightly.
double accuracy(VisionTransformer& model, const Digits& digits) {
  model.eval();
  Tape tape;
  const Tape::NoGrad no_grad(tape);
  const Tensor logits = model.forward(tape.constant(digits.images)).value();
  std::int64_t right = 0;
  for (std::int64_t image = 0; image < digits.size(); ++image) {
    const double* scores = logits.data() + image * kDigitClasses;
    const auto guess = std::max_element(scores, scores + kDigitClasses) - scores;
    if (guess == digits.labels[static_cast<std::size_t>(image)]) ++right;
  }
  model.train();
  return static_cast<double>(right) / static_cast<double>(digits.size());
}

int main() {
  blas::use_single_thread();  // these matrices are too small to share
  Generator generator(0);
  Digits digits = load_digits();
  digits.images = standardize(digits.images);
  const Split split = train_test_split(digits.size(), 0.8, generator);

  VisionTransformer model({.layers = 2, .d_model = 32, .placement = Placement::pre}, generator);
  Optimizer optimizer(groups_without_decay_on_norms(model), AdamW{.weight_decay = 0.05});
  const LearningRate rate{.peak = 4e-3, .warmup = 20, .decay = Decay::cosine, .total = 8 * 90};

  std::int64_t step = 0;
  for (int epoch = 1; epoch <= 8; ++epoch) {
    std::vector<std::int64_t> order;
    for (std::int64_t i : generator.permutation(std::ssize(split.train))) {
      order.push_back(split.train[static_cast<std::size_t>(i)]);
    }
    for (const std::vector<std::int64_t>& positions : batches(order, 16)) {
      const Digits batch = digits.select(positions);
      Tape tape;
      const Var loss = cross_entropy(model.forward(tape.constant(batch.images)), batch.labels);
      model.zero_grad();
      tape.backward(loss);
      if (!std::isfinite(clip_grad_norm(model.parameters(), 1.0))) {
        fmt::print("diverged in step {}\n", step + 1);
        return 1;
      }
      optimizer.step(rate.at(++step));
    }
  }
  const double reached = accuracy(model, digits.select(split.test));
  fmt::print("{} steps, test accuracy {} 90 %\n", step, reached > 0.9 ? "above" : "NOT above");
}
