#pragma once

#include "experiments/untrained/encoder_model.hpp"

namespace normlab {

// One network of an experiment on gradients at initialization.
struct Configuration {
  std::int64_t layers = 12;
  Placement placement = Placement::post;
  std::uint64_t seed = 0;
  double scale = 1.0;  // of the embedded input

  bool operator==(const Configuration&) const = default;
};

// What is measured on it: Frobenius norms of the gradient of the mean loss, one per layer, and the
// residual stream that normalization layers receive.
struct GradientMeasurement {
  double loss = 0.0;
  std::vector<double> w1_grad_norm, w2_grad_norm, in_proj_grad_norm, out_proj_grad_norm;
  // Mean over tokens of |x|^2 / d. Where norms stand on the residual stream (post, deepnorm): the
  // sum entering each block's second norm. Else the stream entering each block, and last the one
  // entering the final norm, if there is one.
  std::vector<double> stream_sq_norm_per_d;

  double last_w2() const { return w2_grad_norm.back(); }
  double w2_last_over_first() const { return w2_grad_norm.back() / w2_grad_norm.front(); }
  bool all_finite() const;
};

// Pure: the same configuration gives the same bits on any thread.
GradientMeasurement measure_gradients(const EncoderModel::Config& config,
                                      const Configuration& configuration, const Tokens& tokens);

// Its parts. The norms of the gradients that a model holds:
GradientMeasurement gradient_norms(EncoderModel& model);

// The sums of |x|^2 where the norms of a model read the residual stream, over all forward passes.
// It registers hooks in the model and has to outlive these passes.
class StreamSums {
 public:
  explicit StreamSums(EncoderModel& model);
  StreamSums(const StreamSums&) = delete;
  StreamSums& operator=(const StreamSums&) = delete;

  // Divided by the number of elements: GradientMeasurement::stream_sq_norm_per_d.
  std::vector<double> means(const Tokens& tokens) const;

  std::vector<double> blocks;  // entry by block

 private:
  std::int64_t width_;
  bool has_final_norm_;
  double final_norm_ = 0.0;
};

}  // namespace normlab
