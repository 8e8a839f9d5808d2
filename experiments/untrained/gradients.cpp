// Tested by tests/experiments/untrained/gradients_test.cpp against PyTorch.
#include "experiments/untrained/gradients.hpp"

#include <algorithm>
#include <cmath>

#include "core/kernels/row_kernels.hpp"

namespace normlab {

namespace {

double sum_of_squares(const Tensor& x) {
  const double* data = x.data();
  return lane_sum(x.numel(), [data](std::int64_t i) { return data[i] * data[i]; });
}

}  // namespace

GradientMeasurement measure_gradients(const EncoderModel::Config& config,
                                      const Configuration& configuration, const Tokens& tokens) {
  EncoderModel model(config, configuration.layers, configuration.placement, configuration.seed);
  StreamSums stream(model);
  const Tensor one_token = Tensor::scalar(1.0 / static_cast<double>(tokens.count()));
  double loss = 0.0;
  for_each_slice(config, tokens.images(), [&](std::int64_t first, std::int64_t last) {
    Tape tape;
    const Var sum = model.loss_sum(tape, tokens, configuration.scale, first, last);
    tape.backward(sum, one_token);
    loss += sum.value().item() * one_token.item();
  });
  GradientMeasurement measured = gradient_norms(model);
  measured.loss = loss;
  measured.stream_sq_norm_per_d = stream.means(tokens);
  return measured;
}

GradientMeasurement gradient_norms(EncoderModel& model) {
  GradientMeasurement result;
  for (const TransformerEncoderLayer* layer : model.encoder().layers) {
    result.w1_grad_norm.push_back(norm(layer->linear1.weight.grad));
    result.w2_grad_norm.push_back(norm(layer->linear2.weight.grad));
    result.in_proj_grad_norm.push_back(norm(layer->self_attn.in_proj_weight.grad));
    result.out_proj_grad_norm.push_back(norm(layer->self_attn.out_proj.weight.grad));
  }
  return result;
}

StreamSums::StreamSums(EncoderModel& model)
    : blocks(model.encoder().layers.size(), 0.0),
      width_(model.config().d_model),
      has_final_norm_(model.encoder().norm != nullptr) {
  TransformerEncoder& encoder = model.encoder();
  encoder.register_hook(
      [this](const std::string& name, const Var& value) {
        if (name == "norm.input") final_norm_ += sum_of_squares(value.value());
      },
      {"norm.input"});
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    TransformerEncoderLayer& layer = *encoder.layers[block];
    const bool post = entry(layer.options().place()).normalizes_stream;
    layer.register_hook(
        [&sum = blocks[block]](const std::string&, const Var& value) {
          sum += sum_of_squares(value.value());
        },
        {post ? "norm2.input" : "input"});
  }
}

std::vector<double> StreamSums::means(const Tokens& tokens) const {
  std::vector<double> means = blocks;
  if (has_final_norm_) means.push_back(final_norm_);
  for (double& mean : means) mean /= static_cast<double>(tokens.count() * width_);
  return means;
}

bool GradientMeasurement::all_finite() const {
  const auto finite = [](const std::vector<double>& numbers) {
    return std::all_of(numbers.begin(), numbers.end(), [](double v) { return std::isfinite(v); });
  };
  return std::isfinite(loss) && finite(w1_grad_norm) && finite(w2_grad_norm) &&
         finite(in_proj_grad_norm) && finite(out_proj_grad_norm) && finite(stream_sq_norm_per_d);
}

}  // namespace normlab
