#include "experiments/discrepancy/configuration.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "core/ops/activation.hpp"
#include "core/ops/arithmetic.hpp"
#include "core/ops/cross_entropy.hpp"
#include "core/ops/linear.hpp"
#include "core/ops/shape_ops.hpp"
#include "experiments/discrepancy/model.hpp"
#include "experiments/untrained/gradients.hpp"
#include "tests/experiments/discrepancy/discrepancy_cases.hpp"

using namespace normlab;
using namespace normlab::discrepancy;

namespace {

double relative_error(double got, double expected) { return std::abs(got / expected - 1.0); }

double dot(const Tensor& a, const Tensor& b) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < a.numel(); ++i) sum += a.data()[i] * b.data()[i];
  return sum;
}

// The network again, but with a W2 of its own for every token of every layer: the gradient of such
// a copy is what that token contributes to the gradient of W2.
std::vector<std::vector<Tensor>> contributions(const Setup& setup,
                                               const discrepancy::Configuration& configuration,
                                               SetupModel& model, const SequenceData& data) {
  Tape tape;
  const bool pre = configuration.placement == Placement::pre;
  const std::int64_t tokens = setup.sequences * setup.tokens;
  std::vector<std::vector<Var>> copies;
  Var x = tape.constant(model.embed(data.content));
  for (TransformerEncoderLayer* layer : model.encoder().layers) {
    const auto ffn = [&](const Var& v) {
      const Var hidden = reshape(relu(layer->linear1.forward(v)), {tokens, setup.ffn()});
      std::vector<Var> rows;
      copies.emplace_back();
      for (std::int64_t t = 0; t < tokens; ++t) {
        copies.back().push_back(tape.variable(layer->linear2.weight.value));
        rows.push_back(linear(slice(hidden, 0, t, t + 1), copies.back().back()));
      }
      return reshape(concat(rows, 0), x.shape().extents());
    };
    if (pre) {
      x = x + layer->self_attn.forward(layer->norm1.forward(x));
      x = x + ffn(layer->norm2.forward(x));
    } else {
      x = layer->norm1.forward(x + layer->self_attn.forward(x));
      x = layer->norm2.forward(x + ffn(x));
    }
  }
  if (pre) x = model.encoder().norm->forward(x);
  const Var logits = linear(x, tape.constant(model.parameter("head.weight").value));
  tape.backward(cross_entropy(logits, data.labels));
  std::vector<std::vector<Tensor>> gradients;
  for (const auto& of_layer : copies) {
    gradients.emplace_back();
    for (const Var& copy : of_layer) gradients.back().push_back(copy.grad());
  }
  return gradients;
}

}  // namespace

TEST_CASE("measure_discrepancy: the split is that of the gradients of single tokens") {
  Setup setup = shrunk(Setup{});
  setup.sequences = 3;
  setup.source = TokenSource::vocabulary;
  setup.tokens = 5;
  for (const Placement placement : {Placement::post, Placement::pre}) {
    CAPTURE(name(placement));
    const discrepancy::Configuration configuration{"", placement, 3, 7};
    const Measurement measured = measure_discrepancy(setup, configuration);
    SetupModel model(setup, configuration.layers, placement, configuration.seed, 0);
    const auto tokens =
        contributions(setup, configuration, model, make_data(setup, configuration.seed));
    for (std::size_t layer = 0; layer < 3; ++layer) {
      CAPTURE(layer);
      double self = 0.0, same_sequence = 0.0, across = 0.0;
      for (std::size_t t = 0; t < 15; ++t) {
        for (std::size_t u = 0; u < 15; ++u) {
          const double product = dot(tokens[layer][t], tokens[layer][u]);
          (t == u ? self : t / 5 == u / 5 ? same_sequence : across) += product;
        }
      }
      const double total = self + same_sequence + across;
      CHECK(relative_error(measured.square[layer], total) < 1e-10);
      CHECK(relative_error(measured.self[layer], self) < 1e-10);
      CHECK(std::abs(measured.same_sequence[layer] - same_sequence) < 1e-10 * total);
      CHECK(std::abs(measured.across_sequences(layer) - across) < 1e-10 * total);
    }
  }
}

TEST_CASE("measure_discrepancy: the article's setup gives init_gradients' numbers, in parts too") {
  Setup setup;
  setup.width = 8;
  setup.sequences = 3;
  setup.ffn_ratio = 2;
  const Tokens tokens = tokens_of(load_digits().range(0, 3));
  for (const int parts : {1, 2, 3}) {
    for (const Placement placement : {Placement::post, Placement::pre}) {
      CAPTURE(parts);
      CAPTURE(name(placement));
      const GradientMeasurement expected = measure_gradients(
          {.d_model = 8, .nhead = 4, .dim_feedforward = 16}, {2, placement, 4}, tokens);
      const Measurement got = measure_discrepancy(setup, {"", placement, 2, 4}, parts);
      CHECK(relative_error(got.loss, expected.loss) < 1e-12);
      for (std::size_t layer = 0; layer < 2; ++layer) {
        CHECK(relative_error(got.w2_grad_norm[layer], expected.w2_grad_norm[layer]) < 1e-12);
      }
    }
  }
}

TEST_CASE("measure_discrepancy: mini-batches of one sequence know no pairs across sequences") {
  Setup setup = shrunk(Setup{});
  const discrepancy::Configuration configuration{"", Placement::pre, 2, 1};
  const Measurement whole = measure_discrepancy(setup, configuration);
  setup.mini_batches = setup.sequences;
  const Measurement apart = measure_discrepancy(setup, configuration);
  const auto sequences = static_cast<double>(setup.sequences);
  for (std::size_t layer = 0; layer < 2; ++layer) {  // each delta is `sequences` times as large
    CHECK(relative_error(apart.self[layer], sequences * whole.self[layer]) < 1e-12);
    CHECK(std::abs(apart.across_sequences(layer)) < 1e-12 * apart.square[layer]);
    CHECK(std::abs(whole.across_sequences(layer)) > 1e-3 * whole.square[layer]);
    CHECK(apart.w2_grad_norm[layer] < std::sqrt(apart.square[layer]));  // a mean, not rms
  }
  CHECK(relative_error(apart.loss, whole.loss) < 1e-12);
}

TEST_CASE("measure_discrepancy: every ablation measures something else than its base") {
  const std::vector<Ablation> ablations = all_ablations();
  const discrepancy::Configuration configuration{"", Placement::post, 2, 1};
  for (const Ablation& ablation : ablations) {
    if (ablation.base.empty()) continue;
    CAPTURE(ablation.name);
    const auto base = std::find_if(ablations.begin(), ablations.end(), [&](const Ablation& other) {
      return other.name == ablation.base;
    });
    REQUIRE(base != ablations.end());
    const auto last = [&](const Setup& setup) {
      return measure_discrepancy(shrunk(setup), configuration).w2_grad_norm.back();
    };
    const double got = last(ablation.setup);
    CHECK(std::isfinite(got));
    CHECK(relative_error(got, last(base->setup)) > 1e-3);
  }
}

TEST_CASE("SetupModel: with all of the paper's changes the gradient is the loss's derivative") {
  const std::vector<Ablation> ablations = all_ablations();
  Setup setup = shrunk(std::find_if(ablations.begin(), ablations.end(), [](const Ablation& other) {
                         return other.name == "paper";
                       })->setup);
  setup.dropout = 0.0;
  setup.tokens = 3;
  for (const Placement placement : {Placement::post, Placement::pre}) {
    CAPTURE(name(placement));
    SetupModel model(setup, 2, placement, 3, 0);
    const SequenceData data = make_data(setup, 3);
    Tape tape;
    tape.backward(model.loss_sum(tape, data));
    Parameter& weight = model.encoder().layers[0]->linear2.weight;
    const Tensor direction = Generator(1).randn(weight.value.shape());
    const double slope = dot(weight.grad, direction);
    const auto loss_at = [&](double step) {
      for (std::int64_t i = 0; i < direction.numel(); ++i) {
        weight.value.mutable_data()[i] += step * direction.data()[i];
      }
      Tape other;
      return model.loss_sum(other, data).value().item();
    };
    constexpr double kStep = 1e-6;
    const double up = loss_at(kStep), down = loss_at(-2.0 * kStep);
    CHECK(relative_error((up - down) / (2.0 * kStep), slope) < 1e-6);
  }
}

TEST_CASE("SetupModel: zero queries and keys, and logits of the deviation asked for") {
  Setup setup = shrunk(Setup{});
  setup.zero_query_key = true;
  setup.logit_deviation = 2.0;
  setup.classes = 400;
  SetupModel model(setup, 1, Placement::post, 1, 0);
  const Tensor& in_proj = model.encoder().layers[0]->self_attn.in_proj_weight.value;
  const std::int64_t d = setup.width;
  for (std::int64_t i = 0; i < 3 * d * d; ++i) CHECK((in_proj.data()[i] == 0.0) == (i < 2 * d * d));
  const Tensor& head = model.parameter("head.weight").value;
  const double deviation =
      norm(head) / std::sqrt(static_cast<double>(head.numel())) * std::sqrt(static_cast<double>(d));
  CHECK(relative_error(deviation, 2.0) < 0.05);  // of 3,200 numbers
}

TEST_CASE("make_data: labels are the digit's, uniform or like words") {
  Setup setup;
  setup.sequences = 400;
  const SequenceData digits = make_data(setup, 1);
  const Digits images = load_digits();
  for (std::size_t t = 0; t < digits.labels.size(); ++t) {
    CHECK(digits.labels[t] == images.labels[t / 16]);
  }
  const auto share_of_class = [&](Labels labels, std::int64_t which) {
    setup.labels = labels;
    const std::vector<std::int64_t> all = make_data(setup, 1).labels;
    return static_cast<double>(std::count(all.begin(), all.end(), which)) / 6400.0;
  };
  CHECK(std::abs(share_of_class(Labels::per_token, 0) - 0.1) < 0.015);
  const double zipf = 1.0 / 2.9289682539682538;  // the 10th harmonic number
  CHECK(std::abs(share_of_class(Labels::word_frequencies, 0) - zipf) < 0.024);
  CHECK(std::abs(share_of_class(Labels::word_frequencies, 9) - 0.1 * zipf) < 0.009);
  setup.tokens = 25;
  CHECK_THROWS_WITH_AS(make_data(setup, 1), doctest::Contains("must be 4, 16 or 64"),
                       std::invalid_argument);
}
