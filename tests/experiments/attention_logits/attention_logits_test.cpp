#include "experiments/attention_logits/attention_logits.hpp"

#include <cmath>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "experiments/untrained/encoder_model.hpp"

using namespace normlab;
using namespace normlab::attention_logits;

namespace {

Options small() {
  Options options;
  options.width = 16;
  options.heads = 2;
  options.images = 3;
  options.seeds = {0, 1};
  return options;
}

Measured measured(const Options& options, int threads = 1) {
  return measure(options, {.threads = threads});
}

std::vector<Summary> rows(const Options& options) { return summaries(measured(options)); }

}  // namespace

TEST_CASE("attention_logits: without a norm, logits grow with the square of the scale") {
  Options options = small();
  options.variants = {"none"};
  const auto all = rows(options);
  for (std::size_t i = 1; i < all.size(); ++i) {
    const double ratio = all[i].scale / all[i - 1].scale;
    CHECK(std::abs(all[i].largest_logit.median / all[i - 1].largest_logit.median / (ratio * ratio) -
                   1.0) < 1e-12);
  }
  // ViT-22B: logits past 50,000 and attention close to one-hot.
  CHECK(all.back().largest_logit.median > 5e4);
  CHECK(all.back().one_hot.median > 0.95);
  CHECK(all.back().entropy.median < 0.01);
  CHECK(all.front().entropy.median > 0.9);
  CHECK(all.front().one_hot.median == 0.0);
}

TEST_CASE("attention_logits: every norm of a token, and cosine attention, hold logits off") {
  Options options = small();
  options.variants = {"layernorm", "rmsnorm", "scalenorm", "convnext", "cosine"};
  options.scales = {4.0, 256.0};
  const Measured result = measured(options, 2);
  for (const Point& point : result.points) {
    CAPTURE(point.variant);
    const double bound = logit_bound(options, point.variant);
    CHECK(bound == (point.variant == "cosine" ? 10.0 : std::sqrt(8.0)));
    CHECK(point.largest_logit <= bound * (1.0 + 1e-12));
    CHECK(point.largest_logit > 0.3 * bound);
    CHECK(point.one_hot < 0.05);
  }
  for (const Summary& row : summaries(result)) {  // the same at every scale, but for eps
    CAPTURE(row.variant);
    CHECK(std::abs(row.entropy.median - summaries(result)[0].entropy.median) < 0.5);
  }
  const auto all = summaries(result);
  for (std::size_t i = 0; i + 1 < all.size(); i += 2) {
    CHECK(std::abs(all[i].entropy.median - all[i + 1].entropy.median) < 1e-4);
  }
}

TEST_CASE("attention_logits: the largest logit by hand, from weights and tokens") {
  // One head of width 4 on one image: logits as plain sums, from the weights that the model draws.
  Options options = small();
  options.width = 4;
  options.heads = 1;
  options.images = 1;
  options.variants = {"none"};
  options.scales = {3.0};
  options.seeds = {5};
  EncoderModel model({.d_model = 4, .nhead = 1}, 1, Placement::pre, 5);
  const Tokens tokens = tokens_of(load_digits().range(0, 1));
  const Tensor x = model.embed(tokens.patches, 1.0);
  const Tensor& w = model.encoder().layers[0]->self_attn.in_proj_weight.value;
  double q[16][4] = {}, k[16][4] = {}, largest = 0.0, entropy = 0.0;
  for (std::int64_t t = 0; t < 16; ++t) {
    double mean = 0.0, variance = 0.0;
    for (std::int64_t i = 0; i < 4; ++i) mean += x.at({0, t, i}) / 4.0;
    for (std::int64_t i = 0; i < 4; ++i) variance += std::pow(x.at({0, t, i}) - mean, 2) / 4.0;
    for (std::int64_t o = 0; o < 4; ++o) {
      for (std::int64_t i = 0; i < 4; ++i) {
        const double token = (x.at({0, t, i}) - mean) / std::sqrt(variance + 1e-5);
        q[t][o] += 3.0 * w.at({o, i}) * token;
        k[t][o] += 3.0 * w.at({4 + o, i}) * token;
      }
    }
  }
  for (int a = 0; a < 16; ++a) {
    double weights[16], sum = 0.0;
    for (int b = 0; b < 16; ++b) {
      double logit = 0.0;
      for (int i = 0; i < 4; ++i) logit += q[a][i] * k[b][i] / 2.0;
      largest = std::max(largest, std::abs(logit));
      sum += weights[b] = std::exp(logit);
    }
    for (double weight : weights) entropy -= weight / sum * std::log(weight / sum) / 16.0;
  }
  const Point point = measured(options).points.at(0);
  CHECK(std::abs(point.largest_logit / largest - 1.0) < 1e-12);
  CHECK(std::abs(point.entropy / (entropy / std::log(16.0)) - 1.0) < 1e-12);
}

TEST_CASE("attention_logits: text and JSON do not depend on threads, and the page has figures") {
  const Measured one = measured(small(), 1);
  const Measured two = measured(small(), 2);
  const lab::Results found = results(one);
  CHECK(lab::to_text(found) == lab::to_text(results(two)));
  CHECK(lab::to_json(found) == lab::to_json(results(two)));
  const nlohmann::json tables = nlohmann::json::parse(lab::to_json(found))["tables"];
  CHECK(tables["points"].size() == one.points.size());
  CHECK(tables["summary"].size() == 20);
  CHECK(tables["logit_bounds"][0]["qk_norm"] == "none");
  CHECK(tables["logit_bounds"][0]["bound"] == "inf");
  REQUIRE(found.figures.size() == 2);
  CHECK(found.figures[0].series.size() == 5);  // four variants and the square
  CHECK(found.exit_code == 0);
}

TEST_CASE("attention_logits: a logit above its bound and a number that is none are told") {
  Options options = small();
  options.variants = {"layernorm"};
  options.scales = {2.0};
  options.seeds = {3};
  Measured made_up{options, {{"layernorm", 2.0, 3, /*largest_logit=*/2.9}}};
  lab::Results found = results(made_up);
  CHECK(found.exit_code == 1);
  CHECK(found.exit_message == "layernorm at scale 2: a logit of 2.9 is above its bound 2.828");
  made_up.points[0].largest_logit = 2.8;
  CHECK(results(made_up).exit_code == 0);
  made_up.points[0].entropy = std::nan("");
  CHECK(results(made_up).exit_message == "some numbers are not finite");
}

TEST_CASE("attention_logits: options that do not fit are refused") {
  const auto refused = [](const auto& change, const char* part) {
    Options options = small();
    change(options);
    CHECK_THROWS_WITH_AS(check(options), doctest::Contains(part), std::invalid_argument);
  };
  refused([](Options& o) { o.heads = 3; }, "--width: must be a positive multiple");
  refused([](Options& o) { o.heads = 8; }, "must leave at least 3 numbers per head");
  refused([](Options& o) { o.variants = {"batchnorm"}; },
          "--qk-norm: must be none, cosine or a norm of single tokens");
  refused([](Options& o) { o.scales = {}; }, "--scale: must name at least one");
  refused([](Options& o) { o.seeds = {1, 1}; }, "--seeds: must differ");
}
