// Tested by tests/experiments/untrained/gradient_cell_test.cpp against PyTorch.
#include "experiments/untrained/gradient_cell.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/check.hpp"
#include "core/kernels/row_kernels.hpp"

namespace normlab {

namespace {

double sum_of_squares(const Tensor& x) {
  const double* data = x.data();
  return lane_sum(x.numel(), [data](std::int64_t i) { return data[i] * data[i]; });
}

// The stacks of several depths and, for each, the sums of |x|^2 where its norms read the stream.
class Stacks {
 public:
  // `cells` from the shallowest to the deepest.
  Stacks(const EncoderModel::Config& config, const std::vector<GradientCell>& cells) {
    for (const GradientCell& cell : cells) {
      models_.push_back(
          std::make_unique<EncoderModel>(config, cell.layers, cell.placement, cell.seed));
    }
    block_sums_.assign(static_cast<std::size_t>(cells.back().layers), 0.0);
    final_sums_.assign(cells.size(), 0.0);
    record_stream(cells.back().placement);
  }

  EncoderModel& deepest() { return *models_.back(); }
  EncoderModel& model(std::size_t i) { return *models_[i]; }
  std::size_t size() const { return models_.size(); }

  // Stacks of one seed draw their blocks in the same order, so that the blocks of a shallow one
  // have the weights of the first blocks of the deepest. Those are the ones that are computed with,
  // and they get the gradient when the tape runs backward; this hands it to stack i. Done again, it
  // is taken back.
  void swap_block_gradients(std::size_t i) {
    if (i + 1 == models_.size()) return;
    const auto& blocks = models_[i]->encoder().layers;
    for (std::size_t block = 0; block < blocks.size(); ++block) {
      const auto mine = blocks[block]->parameters();
      const auto shared = deepest().encoder().layers[block]->parameters();
      for (std::size_t p = 0; p < mine.size(); ++p) std::swap(mine[p]->grad, shared[p]->grad);
    }
  }

  // Means over all elements, as GradientMeasurement::stream_sq_norm_per_d has them.
  std::vector<double> stream_of(std::size_t i, std::int64_t elements) const {
    const TransformerEncoder& encoder = models_[i]->encoder();
    std::vector<double> means(
        block_sums_.begin(),
        block_sums_.begin() + static_cast<std::ptrdiff_t>(encoder.layers.size()));
    if (encoder.norm != nullptr) means.push_back(final_sums_[i]);
    for (double& mean : means) mean /= static_cast<double>(elements);
    return means;
  }

 private:
  void record_stream(Placement placement) {
    const std::string point = entry(placement).normalizes_stream ? "norm2.input" : "input";
    for (std::size_t i = 0; i < models_.size(); ++i) {
      models_[i]->encoder().register_hook(
          [&sum = final_sums_[i]](const std::string& name, const Var& value) {
            if (name == "norm.input") sum += sum_of_squares(value.value());
          },
          {"norm.input"});
    }
    for (std::size_t block = 0; block < block_sums_.size(); ++block) {
      deepest().encoder().layers[block]->register_hook(
          [&sum = block_sums_[block]](const std::string&, const Var& value) {
            sum += sum_of_squares(value.value());
          },
          {point});
    }
  }

  std::vector<std::unique_ptr<EncoderModel>> models_;
  std::vector<double> block_sums_, final_sums_;
};

GradientMeasurement gradients_of(EncoderModel& model) {
  GradientMeasurement result;
  for (const TransformerEncoderLayer* layer : model.encoder().layers) {
    result.w1_grad_norm.push_back(norm(layer->linear1.weight.grad));
    result.w2_grad_norm.push_back(norm(layer->linear2.weight.grad));
    result.in_proj_grad_norm.push_back(norm(layer->self_attn.in_proj_weight.grad));
    result.out_proj_grad_norm.push_back(norm(layer->self_attn.out_proj.weight.grad));
  }
  return result;
}

void check_depths(const std::vector<GradientCell>& cells) {
  check(!cells.empty(), "measure_depths", "cells", "must be at least one", "none");
  for (const GradientCell& cell : cells) {
    GradientCell like_first = cell;
    like_first.layers = cells.front().layers;
    check(like_first == cells.front(), "measure_depths", "cells", "must differ in depth only",
          "another placement, seed or scale");
    check(cells.size() == 1 || cell.placement != Placement::deep_norm, "measure_depths", "cells",
          "must be one at a time in deepnorm, whose weights and sums depend on the depth",
          [&] { return std::to_string(cells.size()); });
  }
}

}  // namespace

bool GradientMeasurement::all_finite() const {
  const auto finite = [](const std::vector<double>& numbers) {
    return std::all_of(numbers.begin(), numbers.end(), [](double v) { return std::isfinite(v); });
  };
  return std::isfinite(loss) && finite(w1_grad_norm) && finite(w2_grad_norm) &&
         finite(in_proj_grad_norm) && finite(out_proj_grad_norm) && finite(stream_sq_norm_per_d);
}

GradientMeasurement measure_gradients(const EncoderModel::Config& config, const GradientCell& cell,
                                      const Tokens& tokens) {
  return measure_depths(config, {cell}, tokens).front();
}

std::vector<GradientMeasurement> measure_depths(const EncoderModel::Config& config,
                                                const std::vector<GradientCell>& cells,
                                                const Tokens& tokens) {
  check_depths(cells);
  std::vector<std::size_t> order(cells.size());  // from the shallowest
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return cells[a].layers < cells[b].layers; });
  std::vector<GradientCell> sorted;
  for (std::size_t place : order) sorted.push_back(cells[place]);

  Stacks stacks(config, sorted);
  const Tensor one_token = Tensor::scalar(1.0 / static_cast<double>(tokens.count()));
  std::vector<double> losses(cells.size(), 0.0);
  for_each_slice(config, tokens.images(), [&](std::int64_t first, std::int64_t last) {
    Tape tape;
    std::vector<Var> loss;
    Var x = stacks.deepest().stream(tape, tokens, cells.front().scale, first, last);
    std::int64_t block = 0;
    for (std::size_t i = 0; i < stacks.size(); ++i) {
      for (; block < sorted[i].layers; ++block) {
        x = stacks.deepest().encoder().layers[static_cast<std::size_t>(block)]->forward(x);
      }
      loss.push_back(stacks.model(i).loss_of_stream(x, tokens, first, last));
    }
    for (std::size_t i = 0; i < stacks.size(); ++i) {
      stacks.swap_block_gradients(i);
      tape.backward(loss[i], one_token);
      stacks.swap_block_gradients(i);
      losses[i] += loss[i].value().item() * one_token.item();
    }
  });

  std::vector<GradientMeasurement> results(cells.size());
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    GradientMeasurement& result = results[order[i]] = gradients_of(stacks.model(i));
    result.loss = losses[i];
    result.stream_sq_norm_per_d = stacks.stream_of(i, tokens.count() * config.d_model);
  }
  return results;
}

}  // namespace normlab
