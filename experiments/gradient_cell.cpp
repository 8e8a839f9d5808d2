// Tested by tests/experiments/gradient_cell_test.cpp against PyTorch.
#include "experiments/gradient_cell.hpp"

#include <map>

#include "core/ops/row_kernels.hpp"

namespace normlab {

namespace {

double sum_of_squares(const Tensor& x) {
  const double* data = x.data();
  return lane_sum(x.numel(), [data](std::int64_t i) { return data[i] * data[i]; });
}

// Adds up |x|^2 of the stream at the points where the article's script reads it.
class StreamRecorder {
 public:
  StreamRecorder(EncoderModel& model, Placement placement) : model_(model) {
    const std::string norm = placement == Placement::post ? ".norm2.input" : ".norm1.input";
    std::size_t points = 0;
    for (; points < model.encoder().layers.size(); ++points) {
      index_["layers." + std::to_string(points) + norm] = points;
    }
    if (model.encoder().norm != nullptr) index_["norm.input"] = points++;
    sums_.assign(points, 0.0);
    model.encoder().set_tap([this](const std::string& tap, const Var& value) {
      if (const auto at = index_.find(tap); at != index_.end()) {
        sums_[at->second] += sum_of_squares(value.value());
      }
    });
  }
  ~StreamRecorder() { model_.encoder().set_tap({}); }
  StreamRecorder(const StreamRecorder&) = delete;
  StreamRecorder& operator=(const StreamRecorder&) = delete;

  std::vector<double> per_element(std::int64_t elements) const {
    std::vector<double> means;
    for (double sum : sums_) means.push_back(sum / static_cast<double>(elements));
    return means;
  }

 private:
  EncoderModel& model_;
  std::map<std::string, std::size_t> index_;
  std::vector<double> sums_;
};

}  // namespace

GradientMeasurement measure_gradients(const EncoderModel::Config& config, const GradientCell& cell,
                                      const Tokens& tokens) {
  EncoderModel model(config, cell.layers, cell.placement, cell.seed);
  const StreamRecorder stream(model, cell.placement);
  const Tensor one_token = Tensor::scalar(1.0 / static_cast<double>(tokens.count()));
  GradientMeasurement result;
  for_each_slice(tokens.images(), [&](std::int64_t first, std::int64_t last) {
    Tape tape;
    const Var loss = model.loss_sum(tape, tokens, cell.scale, first, last);
    tape.backward(loss, one_token);
    result.loss += loss.value().item() * one_token.item();
  });
  for (const TransformerEncoderLayer* layer : model.encoder().layers) {
    result.w1_grad_norm.push_back(norm(layer->linear1.weight.grad));
    result.w2_grad_norm.push_back(norm(layer->linear2.weight.grad));
    result.in_proj_grad_norm.push_back(norm(layer->self_attn.in_proj_weight.grad));
    result.out_proj_grad_norm.push_back(norm(layer->self_attn.out_proj.weight.grad));
  }
  result.stream_sq_norm_per_d = stream.per_element(tokens.count() * config.width);
  return result;
}

}  // namespace normlab
