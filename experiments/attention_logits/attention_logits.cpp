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
#include "nn/norms/norm_registry.hpp"

namespace normlab {

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

// The largest |q k / sqrt(head width)| of queries and keys (N, T, d) that the attention showed.
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

void measure_weights(const Tensor& weights, AttentionLogitsCell& cell) {
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
  cell.entropy = entropy / count / std::log(static_cast<double>(keys));
  cell.one_hot = static_cast<double>(one_hot) / count;
}

void measure(const AttentionLogitsOptions& options, const Tokens& tokens,
             AttentionLogitsCell& cell) {
  EncoderModel model({.d_model = options.width, .nhead = options.heads}, 1, Placement::pre,
                     cell.seed);
  Generator overwritten;
  MultiheadAttention attention(options.width, options.heads, overwritten,
                               attention_options(cell.variant));
  copy_weights(model.encoder().layers.front()->self_attn, cell.scale, attention);
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
  cell.largest_logit = largest_logit(query, key, options.heads,
                                     cell.variant == "cosine" ? 1.0 : 1.0 / std::sqrt(head_width));
  measure_weights(result.weights, cell);
  const auto gradient = attention.in_proj_weight.grad.values();
  double squares = 0.0;
  for (double g : gradient.first(gradient.size() / 3 * 2)) squares += g * g;
  cell.query_key_gradient = std::sqrt(squares);
}

}  // namespace

bool AttentionLogitsResult::all_finite() const {
  return std::all_of(cells.begin(), cells.end(), [](const AttentionLogitsCell& each) {
    return std::isfinite(each.largest_logit) && std::isfinite(each.entropy) &&
           std::isfinite(each.query_key_gradient);
  });
}

std::vector<std::string> attention_variants() {
  std::vector<std::string> names{"none", "cosine"};
  for (const NormEntry& entry : nn::norms()) {
    if (entry.properties.token_independent) names.push_back(entry.name);
  }
  return names;
}

double logit_bound(const AttentionLogitsOptions& options, const std::string& variant) {
  constexpr double kInverseTau = 10.0;
  if (variant == "cosine") return kInverseTau;
  for (const char* of_unit_size : {"layernorm", "rmsnorm", "scalenorm", "convnext"}) {
    if (variant == of_unit_size) {
      return std::sqrt(static_cast<double>(options.width / options.heads));
    }
  }
  return std::numeric_limits<double>::infinity();
}

void check_options(const AttentionLogitsOptions& options) {
  check_heads(kProgram, options.width, options.heads);
  check(options.width / options.heads >= 3, kProgram, "--width",
        "must leave at least 3 numbers per head",
        [&] { return fmt::format("{} with {} heads", options.width, options.heads); });
  check_distinct(kProgram, "--qk-norm", options.variants);
  check_distinct(kProgram, "--scale", options.scales);
  check_distinct(kProgram, "--seeds", options.seeds);
  const std::vector<std::string> known = attention_variants();
  for (const std::string& variant : options.variants) {
    check(std::find(known.begin(), known.end(), variant) != known.end(), kProgram, "--qk-norm",
          "must be none, cosine or a norm of single tokens", variant);
  }
}

AttentionLogitsResult run_attention_logits(const AttentionLogitsOptions& options,
                                           const Digits& digits, int threads,
                                           const JobProgress& progress) {
  check_options(options);
  check(options.images >= 1 && options.images <= digits.size(), kProgram, "--images",
        fmt::format("must be from 1 to {}", digits.size()),
        [&] { return std::to_string(options.images); });
  AttentionLogitsResult result{options, {}};
  for (const std::string& variant : options.variants) {
    for (double scale : options.scales) {
      for (std::uint64_t seed : options.seeds) result.cells.push_back({variant, scale, seed});
    }
  }
  const Tokens tokens = tokens_of(digits.range(0, options.images));
  std::vector<Job> jobs;
  for (AttentionLogitsCell& cell : result.cells) {
    jobs.push_back({1.0, [&] { measure(options, tokens, cell); }});
  }
  run_jobs(jobs, threads, progress);
  return result;
}

}  // namespace normlab
