// Tested by tests/experiments/norm_card/norm_card_test.cpp.
#include "experiments/norm_card/norm_card.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "core/kernels/map.hpp"
#include "core/ops/arithmetic.hpp"
#include "core/ops/layer_norm.hpp"
#include "core/ops/reduce.hpp"
#include "core/ops/shape_ops.hpp"
#include "core/tools/jacobian.hpp"
#include "core/tools/svd.hpp"
#include "experiments/lab/program/option_checks.hpp"
#include "nn/conformance/gradient_error.hpp"

namespace normlab::norm_card {

namespace {

Tensor scaled(const Tensor& x, double factor) {
  return map(x, [factor](double v) { return factor * v; });
}

Tensor value_of(Layer& layer, const Tensor& x) {
  Tape tape;
  const Tape::NoGrad no_grad(tape);
  return layer.forward(tape.constant(x)).value();
}

double distance(const Tensor& a, const Tensor& b) { return norm(zip(a, b, std::minus<>{})); }

// The first token of the first sequence, (width).
Tensor first_token(const Tensor& x) {
  return Tensor({x.width()}, x.values().first(static_cast<std::size_t>(x.width())));
}

// d(output of the first token) / d(that token), the others held fixed.
Tensor token_jacobian(Layer& layer, const Tensor& x) {
  const std::int64_t width = x.width(), tokens = x.numel() / width;
  Tape tape;
  const Var token = tape.variable(first_token(x).reshaped({1, width}));
  const Var all = tape.constant(x.reshaped({tokens, width}));
  const Var with_token = concat({token, slice(all, 0, 1, tokens)}, 0);
  const Var y = layer.forward(reshape(with_token, x.shape().extents()));
  return jacobian(slice(reshape(y, {tokens, width}), 0, 0, 1), token);
}

Tensor centred(const Tensor& token) {
  Tape tape;
  const Var x = tape.constant(token);
  return (x - mean(x, {-1}, true)).value();
}

// The part of a direction, made a unit vector, that lies in the span of the last `dimension` rows.
double share_in_null_space(const Tensor& direction, const Svd& decomposed, std::int64_t dimension) {
  const std::int64_t n = direction.numel();
  const double length = norm(direction);
  double share = 0.0;
  for (std::int64_t row = n - dimension; row < n; ++row) {
    double dot = 0.0;
    for (std::int64_t j = 0; j < n; ++j) {
      dot += decomposed.directions.data()[row * n + j] * direction.data()[j] / length;
    }
    share += dot * dot;
  }
  return share;
}

void describe_null_space(const Tensor& token, const Tensor& j, Card& card) {
  const Svd decomposed = svd(j);
  constexpr double kZero = 1e-4;  // of the largest: eps lifts a zero to about eps / var
  card.null_dimension =
      std::count_if(decomposed.values.begin(), decomposed.values.end(),
                    [&](double v) { return v <= kZero * decomposed.values.front(); });
  const auto add = [&](const char* direction_name, const Tensor& direction) {
    card.null_space.push_back(
        {direction_name, share_in_null_space(direction, decomposed, card.null_dimension)});
  };
  add("1", Tensor::ones(token.shape()));
  add("x - mean(x)", centred(token));
  add("x", token);
}

void measure_scales(Layer& layer, const Tensor& x, Card& card) {
  const Tensor y = value_of(layer, x);
  for (int exponent = -8; exponent <= 8; ++exponent) {
    const double scale = std::pow(10.0, exponent);
    const Tensor y_scaled = value_of(layer, scaled(x, scale));
    card.scale_effects.push_back(
        {scale, norm(y_scaled) / norm(y), distance(y_scaled, y) / norm(y)});
  }
  const double root_d = std::sqrt(static_cast<double>(x.width()));
  for (int exponent = -3; exponent <= 3; ++exponent) {
    const double scale = std::pow(10.0, exponent);
    const Tensor at = scaled(x, scale);
    const double largest = svd(token_jacobian(layer, at)).values.front();
    card.largest_singular_values.push_back(
        {scale, largest, largest * norm(centred(first_token(at))) / root_d});
  }
}

// sqrt(d)/|y| (I - yhat yhat^T)(I - 1 1^T/d), multiplied out: y has mean zero, so the product is
// I - yhat yhat^T - 1 1^T/d.
double closed_form_error(Layer& layer_at_eps_0, const Tensor& x) {
  const Tensor j = token_jacobian(layer_at_eps_0, x), y = centred(first_token(x));
  const std::int64_t d = y.numel();
  const double length = norm(y), count = static_cast<double>(d);
  Tensor closed = Tensor::uninitialized({d, d});
  for (std::int64_t row = 0; row < d; ++row) {
    for (std::int64_t column = 0; column < d; ++column) {
      const double yhat_yhat = y.data()[row] / length * (y.data()[column] / length);
      closed.mutable_data()[row * d + column] =
          std::sqrt(count) / length * ((row == column ? 1.0 : 0.0) - yhat_yhat - 1.0 / count);
    }
  }
  return distance(j, closed) / norm(j);
}

std::optional<double> agreement_on_centred_tokens(const NormEntry& entry, Layer& layer,
                                                  const Tensor& x, std::optional<double> eps) {
  constexpr double kSharedEps = 1e-5;
  if (entry.name != "layernorm" && entry.name != "rmsnorm" && entry.name != "convnext") return {};
  const std::unique_ptr<Layer> same_eps = entry.make(x.width(), eps.value_or(kSharedEps));
  const Tensor tokens = centred(x);
  Tape tape;
  const Tensor reference = layer_norm(tape.constant(tokens), {x.width()}, std::nullopt,
                                      std::nullopt, eps.value_or(kSharedEps))
                               .value();
  return max_abs_difference(value_of(eps ? layer : *same_eps, tokens), reference);
}

Card card_of(const std::string& norm_name, std::int64_t width, std::optional<double> eps) {
  Card card;
  card.entry = nn::norms().at(norm_name);
  card.width = width;
  card.eps = eps;
  const std::unique_ptr<Layer> layer = card.entry.make(width, eps);
  for (const auto& [parameter_name, parameter] : layer->named_parameters()) {
    card.parameters.emplace_back(parameter_name, parameter->value.shape());
  }
  const Tensor x = sample_tokens(width);
  card.invariances = measure_invariances(card.entry);
  describe_null_space(first_token(x), token_jacobian(*layer, x), card);
  measure_scales(*layer, x, card);
  if (norm_name == "layernorm" || norm_name == "convnext") {
    card.closed_form_error = closed_form_error(*card.entry.make(width, 0.0), x);
  }
  card.gradient_error = gradient_error(card.entry, x, eps);
  card.c2 = agreement_on_centred_tokens(card.entry, *layer, x, eps);
  return card;
}

}  // namespace

Options everything_registered() { return {.norms = nn::norms().names()}; }

void check(const Options& options) {
  check_distinct("norm_card", "--norm", options.norms);
  normlab::check(options.width >= 3, "norm_card", "--width",
                 "must be at least 3: of two numbers a norm keeps a sign",
                 [&] { return std::to_string(options.width); });
  for (const std::string& norm : options.norms) {
    nn::norms().at(norm).make(options.width, options.eps);
  }
}

Measured measure(const Options& options, const lab::Run& run) {
  check(options);
  Measured measured{options, {}};
  for (const std::string& norm : options.norms) {
    measured.cards.push_back(card_of(norm, options.width, options.eps));
    if (run.progress) {
      run.progress(static_cast<double>(measured.cards.size()),
                   static_cast<double>(options.norms.size()));
    }
  }
  return measured;
}

}  // namespace normlab::norm_card
