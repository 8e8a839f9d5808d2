// What Optimizer refuses: options, gradients and stored states that do not fit.
#include <cmath>

#include <doctest/doctest.h>

#include "nn/optim/optimizer.hpp"
#include "tests/support/module_checks.hpp"

using namespace normlab;

namespace {

Parameter with_gradient(double value, double gradient) {
  return {"w", Tensor::scalar(value), Tensor::scalar(gradient)};
}

}  // namespace

TEST_CASE("Optimizer: a gradient that cannot be used is refused, and nothing changes") {
  Parameter first = with_gradient(1.0, 1.0), second{"second", Tensor({2}, {1, 2})};
  Optimizer optimizer(std::vector<Parameter*>{&first, &second}, Adam{});
  const struct {
    Tensor gradient;
    const char* refusal;
  } cases[] = {
      {Tensor({2}, {1, std::nan("")}), "[Optimizer::step] gradient of second: must be finite"},
      {Tensor({2}, {1, -HUGE_VAL}), "[Optimizer::step] gradient of second: must be finite"},
      {Tensor({3}, {1, 2, 3}), "[Optimizer::step] gradient of second: must have shape (2,)"},
      {Tensor::scalar(1.0), "[Optimizer::step] gradient of second: must have shape (2,)"},
  };
  for (const auto& [gradient, refusal] : cases) {
    second.grad = gradient;
    check_refused([&] { optimizer.step(0.1); }, refusal);
    CHECK(first.value.item() == 1.0);
    CHECK(optimizer.state().empty());
  }
  check_refused([] { Optimizer(std::vector<Parameter*>{nullptr}, Sgd{}); },
                "[Optimizer] parameters: must not be null");
}

TEST_CASE("Optimizer: stored moments that no training leaves behind are refused") {
  Parameter w = with_gradient(1.0, 1.0);
  Optimizer optimizer(std::vector<Parameter*>{&w}, Adam{.amsgrad = true});
  optimizer.step(0.1);
  const NamedTensors good = optimizer.state();
  const struct {
    std::size_t entry;
    double value;
    const char* refusal;
  } cases[] = {
      {1, std::nan(""), "[Optimizer::load_state] w.exp_avg: must be finite"},
      {1, HUGE_VAL, "[Optimizer::load_state] w.exp_avg: must be finite"},
      {2, std::nan(""), "[Optimizer::load_state] w.exp_avg_sq: must be finite"},
      {2, -1e-300, "[Optimizer::load_state] w.exp_avg_sq: must not be negative"},
      {3, -1.0, "[Optimizer::load_state] w.max_exp_avg_sq: must not be negative"},
  };
  for (const auto& [entry, value, refusal] : cases) {
    NamedTensors wrong = good;
    wrong[entry].second = Tensor::scalar(value);
    check_refused([&] { optimizer.load_state(wrong); }, refusal);
  }
  NamedTensors negative_mean = good;
  negative_mean[1].second = Tensor::scalar(-1.0);
  optimizer.load_state(negative_mean);
}

TEST_CASE("Optimizer: options, groups and states that do not fit are refused") {
  Parameter w = with_gradient(1.0, 1.0), other = with_gradient(1.0, 1.0);
  const std::vector<Parameter*> one{&w};
  const auto refuses = [&](const UpdateRule& rule, std::string_view message) {
    check_refused([&] { Optimizer(one, rule); }, message);
  };
  refuses(Sgd{.momentum = -0.1}, "[Sgd] momentum: must be");
  refuses(Sgd{.nesterov = true}, "[Sgd] nesterov: must come with a momentum");
  refuses(Sgd{.momentum = 0.9, .dampening = 0.1, .nesterov = true}, "[Sgd] nesterov");
  refuses(Adam{.beta1 = 1.0}, "[Adam, AdamW, RAdam] beta1, beta2: must be at least 0 and below 1");
  refuses(RAdam{.eps = std::nan("")}, "[Adam, AdamW, RAdam] eps");
  refuses(AdamW{.weight_decay = -1.0}, "[Adam, AdamW, RAdam] weight_decay");
  check_refused(
      [&] {
        Optimizer(std::vector<Parameter*>{&w, &w}, Sgd{});
      },
      "[Optimizer] parameters: must be in one group each, once, got w");
  check_refused(
      [&] {
        Optimizer(std::vector<Parameter*>{&w, &other}, Sgd{});
      },
      "[Optimizer] parameters: must have names of their own, got w");

  Optimizer adam(one, Adam{});
  check_refused([&] { adam.step(-1.0); }, "[Optimizer::step] lr");
  check_refused([&] { adam.step(std::nan("")); }, "[Optimizer::step] lr");
  adam.step(0.1);
  NamedTensors state = adam.state();
  const double before = w.value.item();
  CHECK(state.size() == 3);
  const auto refuses_state = [&](const NamedTensors& wrong, std::string_view message) {
    check_refused([&] { adam.load_state(wrong); }, message);
  };
  refuses_state({state[0], state[1]}, "[Optimizer::load_state] state: must hold w.exp_avg_sq");
  refuses_state({state[0], state[0]}, "[Optimizer::load_state] state: must hold each name once");
  refuses_state({{"v.step", Tensor::scalar(1)}},
                "[Optimizer::load_state] state: must hold nothing else, got v.step");
  refuses_state({{"w.step", Tensor::scalar(0.5)}},
                "[Optimizer::load_state] w.step: must be a positive");
  refuses_state({state[0], {"w.exp_avg", Tensor::zeros({2})}, state[2]},
                "[Optimizer::load_state] w.exp_avg: must have shape ()");
  check_refused([&] { Optimizer(one, Adam{.amsgrad = true}).load_state(state); },
                "[Optimizer::load_state] state: must hold w.max_exp_avg_sq");
  CHECK(w.value.item() == before);
  CHECK(max_abs_difference(*find_tensor(adam.state(), "w.exp_avg"), state[1].second) == 0.0);
}
