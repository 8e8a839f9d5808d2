// Tested by tests/experiments/attention_logits/attention_logits_test.cpp.
#include "experiments/attention_logits/attention_logits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/ops/arithmetic.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/layer_norm.hpp"
#include "core/ops/matmul.hpp"
#include "core/ops/reduce.hpp"
#include "core/ops/shape_ops.hpp"
#include "experiments/lab/program/option_checks.hpp"
#include "experiments/lab/runs/jobs.hpp"
#include "experiments/untrained/encoder_model.hpp"
#include "nn/norms/norm_registry.hpp"

namespace normlab::attention_logits {

namespace {

constexpr const char* kProgram = "attention_logits";
constexpr double kOneHot = 0.99;

MultiheadAttention::Options attention_options(const std::string& variant) {
  MultiheadAttention::Options options;
  if (variant == "cosine") {
    options.cosine = true;
  } else if (variant != "none") {
    options.qk_norm = nn::norms().at(variant).factory();
  }
  return options;
}

// The weights of the first block of EncoderModel, W_Q and W_K times the scale.
void copy_weights(const MultiheadAttention& from, double scale, MultiheadAttention& to) {
  to.in_proj_weight.value = from.in_proj_weight.value;
  to.out_proj.weight.value = from.out_proj.weight.value;
  const std::span<double> in_proj = to.in_proj_weight.value.mutable_values();
  for (double& weight : in_proj.first(in_proj.size() / 3 * 2)) weight *= scale;
}

// The largest |q k / sqrt(head width)| of queries and keys (N, T, d) of an attention.
double largest_logit(const Tensor& query, const Tensor& key, std::int64_t heads, double factor) {
  Tape tape;
  const std::int64_t n = query.shape()[0], t = query.shape()[1], width = query.width() / heads;
  const auto per_head = [&](const Tensor& x) {
    return permute(reshape(tape.constant(x), {n, t, heads, width}), {0, 2, 1, 3});
  };
  const Var logits = matmul(per_head(query), per_head(key), Transpose::no, Transpose::yes) * factor;
  const auto values = logits.value().values();
  return std::abs(*std::max_element(values.begin(), values.end(),
                                    [](double a, double b) { return std::abs(a) < std::abs(b); }));
}

void measure_weights(const Tensor& weights, Point& point) {
  const std::int64_t keys = weights.width(), queries = weights.numel() / keys;
  double entropy = 0.0;
  std::int64_t one_hot = 0;
  for (std::int64_t query = 0; query < queries; ++query) {
    const double* row = weights.data() + query * keys;
    for (std::int64_t key = 0; key < keys; ++key) {
      if (row[key] > 0.0) entropy -= row[key] * std::log(row[key]);
    }
    one_hot += *std::max_element(row, row + keys) > kOneHot ? 1 : 0;
  }
  const auto count = static_cast<double>(queries);
  point.entropy = entropy / count / std::log(static_cast<double>(keys));
  point.one_hot = static_cast<double>(one_hot) / count;
}

void measure_point(const Options& options, const Tokens& tokens, Point& point) {
  EncoderModel model({.d_model = options.width, .nhead = options.heads}, 1, Placement::pre,
                     point.seed);
  Generator overwritten;
  MultiheadAttention attention(options.width, options.heads, overwritten,
                               attention_options(point.variant));
  copy_weights(model.encoder().layers.front()->self_attn, point.scale, attention);
  Tensor query, key;
  attention.register_hook(
      [&](const std::string& name, const Var& value) {
        (name == "query" ? query : key) = value.value();
      },
      {"query", "key"});
  Tape tape;
  const Var x = tape.constant(model.embed(tokens.patches, 1.0));
  const MultiheadAttention::Result result = attention.attend(layer_norm(x, {options.width}));
  tape.backward(mean(square(result.output)));
  const double head_width = static_cast<double>(options.width / options.heads);
  point.largest_logit = largest_logit(
      query, key, options.heads, point.variant == "cosine" ? 1.0 : 1.0 / std::sqrt(head_width));
  measure_weights(result.weights, point);
  const auto gradient = attention.in_proj_weight.grad.values();
  double squares = 0.0;
  for (double g : gradient.first(gradient.size() / 3 * 2)) squares += g * g;
  point.query_key_gradient = std::sqrt(squares);
}

}  // namespace

bool Point::all_finite() const {
  return std::isfinite(largest_logit) && std::isfinite(entropy) &&
         std::isfinite(query_key_gradient);
}

std::vector<std::string> known_variants() {
  std::vector<std::string> names{"none", "cosine"};
  for (const NormEntry& entry : nn::norms()) {
    if (entry.properties.token_independent) names.push_back(entry.name);
  }
  return names;
}

double logit_bound(const Options& options, const std::string& variant) {
  constexpr double kInverseTau = 10.0;
  if (variant == "cosine") return kInverseTau;
  for (const char* of_unit_size : {"layernorm", "rmsnorm", "scalenorm", "convnext"}) {
    if (variant == of_unit_size) {
      return std::sqrt(static_cast<double>(options.width / options.heads));
    }
  }
  return std::numeric_limits<double>::infinity();
}

void check(const Options& options) {
  check_heads(kProgram, options.width, options.heads);
  normlab::check(options.width / options.heads >= 3, kProgram, "--width",
                 "must leave at least 3 numbers per head",
                 [&] { return fmt::format("{} with {} heads", options.width, options.heads); });
  check_distinct(kProgram, "--qk-norm", options.variants);
  check_distinct(kProgram, "--scale", options.scales);
  check_distinct(kProgram, "--seeds", options.seeds);
  const std::vector<std::string> known = known_variants();
  for (const std::string& variant : options.variants) {
    normlab::check(std::find(known.begin(), known.end(), variant) != known.end(), kProgram,
                   "--qk-norm", "must be none, cosine or a norm of single tokens", variant);
  }
}

Measured measure(const Options& options, const lab::Run& run) {
  check(options);
  const Tokens tokens = tokens_of(load_digits().range(0, options.images));
  Measured measured{options, {}};
  for (const std::string& variant : options.variants) {
    for (double scale : options.scales) {
      for (std::uint64_t seed : options.seeds) measured.points.push_back({variant, scale, seed});
    }
  }
  std::vector<Job> jobs;
  for (Point& point : measured.points) {
    jobs.push_back({1.0, [&] { measure_point(options, tokens, point); }});
  }
  run_jobs(jobs, run.threads, run.progress);
  return measured;
}

std::vector<Summary> summaries(const Measured& measured) {
  std::vector<Summary> rows;
  for (const std::string& variant : measured.options.variants) {
    for (double scale : measured.options.scales) {
      const auto over_seeds = [&](double Point::*number) {
        std::vector<double> numbers;
        for (const Point& point : measured.points) {
          if (point.variant == variant && point.scale == scale) numbers.push_back(point.*number);
        }
        return spread(numbers);
      };
      rows.push_back({variant, scale, over_seeds(&Point::largest_logit),
                      over_seeds(&Point::entropy), over_seeds(&Point::one_hot),
                      over_seeds(&Point::query_key_gradient)});
    }
  }
  return rows;
}

}  // namespace normlab::attention_logits
