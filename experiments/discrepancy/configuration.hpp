#pragma once

#include <cstdint>
#include <vector>

#include "experiments/discrepancy/setup.hpp"
#include "experiments/discrepancy/token_sums.hpp"
#include "nn/transformer/placement.hpp"

namespace normlab::discrepancy {

// One network of an ablation.
struct Configuration {
  std::string ablation;
  Placement placement = Placement::post;
  std::int64_t layers = 6;
  std::uint64_t seed = 0;

  bool operator==(const Configuration&) const = default;
};

// What is measured on it. One number per layer where not said otherwise; those about gradients are
// means over the mini-batches of the setup.
struct Measurement {
  double loss = 0.0;                  // mean over all tokens
  std::vector<double> w2_grad_norm;   // Frobenius norm of dLoss/dW2
  std::vector<double> square;         // its square, which is the sum of three parts:
  std::vector<double> self;           //   the incoherent one (GradientSquares), and the coherent
  std::vector<double> same_sequence;  //   one within sequences; the rest is across sequences
  // Of the tokens entering each block, and last of those that the classifier reads.
  std::vector<double> similarity_within, similarity_across;

  double across_sequences(std::size_t layer) const {
    return square[layer] - self[layer] - same_sequence[layer];
  }
  double coherent_share(std::size_t layer) const { return 1.0 - self[layer] / square[layer]; }
};

// A configuration can be computed in parts, each with a share of the sequences and a network of its
// own with the same weights, so two threads can work on a large one. The parts' sums are added in
// order: the result depends on how many parts there are (in the last digits, and in what dropout
// drops), but not on which thread computes them.
struct PartialMeasurement {
  struct MiniBatch {
    std::vector<Tensor> gradient;  // of W2, per layer; none if the part has no sequence of it
    std::vector<GradientSquares> squares;
  };
  double loss = 0.0;
  std::vector<MiniBatch> mini_batches;
  std::vector<TokenSimilarity> similarity;
};
PartialMeasurement measure_part(const Setup& setup, const Configuration& configuration, int part,
                                int parts);
// Of all parts, in order.
Measurement join(const std::vector<PartialMeasurement>& parts);

// All parts one after the other. Pure: the same configuration gives the same bits on any thread.
Measurement measure_discrepancy(const Setup& setup, const Configuration& configuration,
                                int parts = 1);

// In any unit, for the order of jobs and the time left.
double cost_of_part(const Setup& setup, const Configuration& configuration, int parts);

}  // namespace normlab::discrepancy
