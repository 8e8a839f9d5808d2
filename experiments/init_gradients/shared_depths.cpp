// Tested by tests/experiments/init_gradients/shared_depths_test.cpp.
#include "experiments/init_gradients/shared_depths.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "core/check.hpp"

namespace normlab::init_gradients {

namespace {

struct Stack {
  EncoderModel model;
  StreamSums stream;

  Stack(const EncoderModel::Config& config, const Configuration& c)
      : model(config, c.layers, c.placement, c.seed), stream(model) {}
};

// Stacks of one seed draw their blocks in the same order, so that the blocks of a shallow one have
// the weights of the first blocks of the deepest. Those are the ones that are computed with, and
// they get the gradient when the tape runs backward; this hands it to the shallow stack. Done
// again, it is taken back.
void swap_block_gradients(EncoderModel& shallow, EncoderModel& deepest) {
  if (&shallow == &deepest) return;
  const auto& blocks = shallow.encoder().layers;
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    const auto mine = blocks[block]->parameters();
    const auto shared = deepest.encoder().layers[block]->parameters();
    for (std::size_t p = 0; p < mine.size(); ++p) std::swap(mine[p]->grad, shared[p]->grad);
  }
}

void check_depths(const std::vector<Configuration>& configurations) {
  check(!configurations.empty(), "measure_depths", "configurations", "must be at least one",
        "none");
  for (const Configuration& configuration : configurations) {
    Configuration like_first = configuration;
    like_first.layers = configurations.front().layers;
    check(like_first == configurations.front(), "measure_depths", "configurations",
          "must differ in depth only", "another placement, seed or scale");
    check(configurations.size() == 1 || configuration.placement != Placement::deep_norm,
          "measure_depths", "configurations",
          "must be one at a time in deepnorm, whose weights and sums depend on the depth",
          [&] { return std::to_string(configurations.size()); });
  }
}

// The places of the configurations, from the shallowest.
std::vector<std::size_t> by_depth(const std::vector<Configuration>& configurations) {
  std::vector<std::size_t> places(configurations.size());
  std::iota(places.begin(), places.end(), 0);
  std::sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
    return configurations[a].layers < configurations[b].layers;
  });
  return places;
}

}  // namespace

std::vector<GradientMeasurement> measure_depths(const EncoderModel::Config& config,
                                                const std::vector<Configuration>& configurations,
                                                const Tokens& tokens) {
  check_depths(configurations);
  const std::vector<std::size_t> places = by_depth(configurations);
  std::vector<std::unique_ptr<Stack>> stacks;
  for (std::size_t place : places) {
    stacks.push_back(std::make_unique<Stack>(config, configurations[place]));
  }
  Stack& deepest = *stacks.back();
  const Tensor one_token = Tensor::scalar(1.0 / static_cast<double>(tokens.count()));
  std::vector<double> losses(stacks.size(), 0.0);
  for_each_slice(config, tokens.images(), [&](std::int64_t first, std::int64_t last) {
    Tape tape;
    std::vector<Var> sums;
    Var x = deepest.model.stream(tape, tokens, configurations.front().scale, first, last);
    std::size_t block = 0;
    for (const auto& stack : stacks) {
      for (; block < stack->model.encoder().layers.size(); ++block) {
        x = deepest.model.encoder().layers[block]->forward(x);
      }
      sums.push_back(stack->model.loss_of_stream(x, tokens, first, last));
    }
    for (std::size_t i = 0; i < stacks.size(); ++i) {
      swap_block_gradients(stacks[i]->model, deepest.model);
      tape.backward(sums[i], one_token);
      swap_block_gradients(stacks[i]->model, deepest.model);
      losses[i] += sums[i].value().item() * one_token.item();
    }
  });

  std::vector<GradientMeasurement> results(stacks.size());
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    Stack& stack = *stacks[i];
    std::vector<double>& blocks = stack.stream.blocks;
    std::copy_n(deepest.stream.blocks.begin(), blocks.size(), blocks.begin());
    GradientMeasurement& result = results[places[i]] = gradient_norms(stack.model);
    result.loss = losses[i];
    result.stream_sq_norm_per_d = stack.stream.means(tokens);
  }
  return results;
}

}  // namespace normlab::init_gradients
