#pragma once

#include "experiments/untrained/encoder_model.hpp"

namespace normlab {

// One network of an experiment on gradients at initialization.
struct GradientCell {
  std::int64_t layers = 12;
  Placement placement = Placement::post;
  std::uint64_t seed = 0;
  double scale = 1.0;  // of the embedded input

  bool operator==(const GradientCell&) const = default;
};

// What is measured on it: Frobenius norms of the gradient of the mean loss, one per layer, and the
// stream that normalization layers receive.
struct GradientMeasurement {
  double loss = 0.0;
  std::vector<double> w1_grad_norm, w2_grad_norm, in_proj_grad_norm, out_proj_grad_norm;
  // Mean over tokens of |x|^2 / d. Where norms stand on the stream (post, deepnorm): the sum
  // entering each block's second norm. Else the stream entering each block, and last the one
  // entering the final norm, if there is one.
  std::vector<double> stream_sq_norm_per_d;

  bool all_finite() const;
};

// Pure: the same cell gives the same bits on any thread.
GradientMeasurement measure_gradients(const EncoderModel::Config& config, const GradientCell& cell,
                                      const Tokens& tokens);

// The same for cells that differ in nothing but their depth, each once; the results in their order,
// bit for bit those of one cell at a time. With one seed a shallow stack is the beginning of a deep
// one, so that one forward pass through the deepest serves all of them. Throws
// std::invalid_argument for cells that differ in more, and for none.
std::vector<GradientMeasurement> measure_depths(const EncoderModel::Config& config,
                                                const std::vector<GradientCell>& cells,
                                                const Tokens& tokens);

}  // namespace normlab
