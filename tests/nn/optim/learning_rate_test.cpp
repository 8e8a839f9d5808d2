#include "nn/optim/learning_rate.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

bool near(double got, double expected) {
  return std::abs(got - expected) <= 1e-15 * std::abs(expected);
}

}  // namespace

TEST_CASE("LearningRate: warmup starts above zero, rises at every step and ends at the peak") {
  for (const std::string& decay : decay_names()) {
    CAPTURE(decay);
    const LearningRate rate{
        .peak = 0.01, .warmup = 10, .decay = decay_of(decay), .total = 100, .every = 20};
    for (std::int64_t step = 1; step <= 10; ++step) {
      CHECK(near(rate.at(step), 0.001 * static_cast<double>(step)));
    }
    CHECK(rate.at(10) == 0.01);
    for (std::int64_t step = 10; step < 100; ++step) CHECK(rate.at(step + 1) <= rate.at(step));
  }
}

TEST_CASE("LearningRate: a warmup of 0 or 1 is none: the first step has the peak") {
  for (const std::string& decay : decay_names()) {
    CAPTURE(decay);
    LearningRate none{.peak = 0.5, .warmup = 0, .decay = decay_of(decay), .total = 20, .every = 5};
    LearningRate one = none;
    one.warmup = 1;
    CHECK(none.at(1) == 0.5);
    for (std::int64_t step = 1; step <= 25; ++step) CHECK(none.at(step) == one.at(step));
  }
}

TEST_CASE("LearningRate: every decay by its formula") {
  const auto at = [](Decay decay, std::int64_t step) {
    return LearningRate{
        .peak = 8.0, .warmup = 4, .decay = decay, .total = 11, .every = 3, .factor = 0.5}
        .at(step);
  };
  CHECK(at(Decay::constant, 1000) == 8.0);
  // total - w + 1 = 8 steps down: 7, 6, ..., and 1 at the last.
  for (std::int64_t step = 5; step <= 11; ++step) {
    CHECK(near(at(Decay::linear, step), 12.0 - static_cast<double>(step)));
  }
  CHECK(at(Decay::linear, 12) == 0.0);
  CHECK(at(Decay::linear, 50) == 0.0);
  CHECK(near(at(Decay::cosine, 8), 4.0));  // half way
  CHECK(near(at(Decay::cosine, 6), 4.0 * (1.0 + std::sqrt(0.5))));
  CHECK(at(Decay::cosine, 11) > 0.0);
  CHECK(at(Decay::cosine, 50) == 0.0);
  CHECK(near(at(Decay::inverse_sqrt, 16), 4.0));
  for (const auto& [step, expected] :
       {std::pair{6, 8.0}, {7, 4.0}, {9, 4.0}, {10, 2.0}, {13, 1.0}}) {
    CHECK(at(Decay::step, step) == expected);
  }
}

TEST_CASE("LearningRate: inverse-sqrt is the rule of the original Transformer") {
  const double d = 512.0, w = 4000.0;
  const LearningRate rate{
      .peak = 1.0 / std::sqrt(d * w), .warmup = 4000, .decay = Decay::inverse_sqrt};
  for (const std::int64_t step : {1, 2, 3999, 4000, 4001, 100000}) {
    const auto t = static_cast<double>(step);
    CHECK(std::abs(rate.at(step) * std::sqrt(d) /
                       std::min(1.0 / std::sqrt(t), t * std::pow(w, -1.5)) -
                   1.0) <= 1e-14);
  }
}

TEST_CASE("LearningRate: what is out of range is refused") {
  const LearningRate linear{.peak = 1.0, .warmup = 10, .decay = Decay::linear, .total = 9};
  check_refused([&] { linear.at(1); }, "[LearningRate] total: must be at least 10, got 9");
  check_refused([] { LearningRate{}.at(0); }, "[LearningRate] step: must be at least 1, got 0");
  check_refused([] { LearningRate{.peak = -1.0}.at(1); }, "[LearningRate] peak");
  check_refused([] { LearningRate{.warmup = -1}.at(1); }, "[LearningRate] warmup");
  check_refused([] { LearningRate{.decay = Decay::step, .every = 0}.at(2); },
                "[LearningRate] every");
  check_refused([] { decay_of("polynomial"); },
                "[LearningRate] decay: must be one of constant, linear");
  for (const std::string& text : decay_names()) CHECK(name(decay_of(text)) == text);
}
