// Each claim of the paper as a number, and what the networks say to it. Tested by
// tests/experiments/lemmas/lemmas_test.cpp.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/ops/layer_norm.hpp"
#include "core/tools/jacobian.hpp"
#include "core/tools/svd.hpp"
#include "experiments/lab/stats/line_fit.hpp"
#include "experiments/lemmas/lemmas.hpp"

namespace normlab::lemmas {

namespace {

using lab::Claim;

double length(std::span<const double> x) {
  double squares = 0.0;
  for (double value : x) squares += value * value;
  return std::sqrt(squares);
}

// The mean over seeds of |x|^2 / d after the ffn of one layer of the deepest networks.
Estimate stream_size(const Measured& measured, Placement placement, std::size_t layer) {
  std::vector<double> sizes;
  for (const Point* point : measured.seeds(Axis::depth, placement, measured.options.deepest())) {
    sizes.push_back(point->measured.blocks[layer].after_ffn.same);
  }
  return estimate(sizes);
}

// Where |x|^2 / d of pre-norm stands between the two limits of Lemma 2: 0 at the lower one, 1 at
// the upper one.
double position(double size, std::size_t layer) {
  const double l = static_cast<double>(layer + 1);
  return (size - 1.0 - 0.5 * l) / l;
}

// The exponent of the last W2's gradient in depth or width: a line through ln(norm) of every seed,
// and one through the theory.
Claim exponent_claim(const Measured& measured, Placement placement, Axis axis) {
  std::vector<double> x, y, theory_x, theory_y;
  for (std::int64_t value : values(measured.options, axis)) {
    const double log_value = std::log(static_cast<double>(value));
    const std::vector<const Point*> seeds = measured.seeds(axis, placement, value);
    for (const Point* point : seeds) {
      x.push_back(log_value);
      y.push_back(std::log(point->last_w2()));
    }
    theory_x.push_back(log_value);
    theory_y.push_back(std::log(seeds.front()->expected_last_w2));
  }
  const LineFit fit = fit_line(x, y);
  Claim claim{.title = "Theorem 1", .measured = {fit.slope, fit.slope_error}};
  claim.theory = fit_line(theory_x, theory_y).slope;
  return claim;
}

}  // namespace

std::vector<Claim> relu_claims(const Options& options) {
  std::vector<double> halves;
  for (std::int64_t seed = 0; seed < options.seeds; ++seed) {
    Generator generator(static_cast<std::uint64_t>(seed));
    const Tensor x = generator.randn({1000, options.setting.width});
    double all = 0.0, positive = 0.0;
    for (double value : x.values()) {
      all += value * value;
      if (value > 0.0) positive += value * value;
    }
    halves.push_back(positive / all);
  }
  return {{.title = "Lemma 1",
           .statement = "E |relu(x)|^2 / E |x|^2 of a Gaussian x is 1/2",
           .measured = estimate(halves),
           .low = 0.5,
           .high = 0.5,
           .resolution = 0.01,
           .must_hold = true}};
}

std::vector<Claim> stream_claims(const Measured& measured) {
  const std::size_t layers = static_cast<std::size_t>(measured.options.deepest());
  // These are expectations over the weights, exact at any width: no margin.
  constexpr double kResolution = 0.05;
  Claim post{.title = "Lemma 2, post-norm",
             .low = 1.5,
             .high = 1.5,
             .resolution = kResolution,
             .must_hold = true,
             .theory = 1.5};
  Claim lowest{.title = "Lemma 2, pre-norm",
               .low = 0.0,
               .high = 1.0,
               .resolution = kResolution,
               .must_hold = true};
  std::size_t post_layer = 0;
  double inside = 0.0, points = 0.0;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const Estimate size = stream_size(measured, Placement::post, layer);
    if (layer == 0 || std::abs(size.mean - 1.5) > std::abs(post.measured.mean - 1.5)) {
      post.measured = size;
      post_layer = layer;
    }
  }
  Claim highest = lowest;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const double l = static_cast<double>(layer + 1);
    const Estimate size = stream_size(measured, Placement::pre, layer);
    const Estimate place{position(size.mean, layer), size.error / l};
    if (layer == 0 || place.mean < lowest.measured.mean) lowest.measured = place;
    if (layer == 0 || place.mean > highest.measured.mean) highest.measured = place;
  }
  for (const Point& point : measured.points) {
    if (point.axis != Axis::depth || point.placement != Placement::pre) continue;
    for (std::size_t layer = 0; layer < point.measured.blocks.size(); ++layer) {
      const double place = position(point.measured.blocks[layer].after_ffn.same, layer);
      inside += place >= 0.0 && place <= 1.0 ? 1.0 : 0.0;
      points += 1.0;
    }
  }
  post.statement = fmt::format(
      "|x|^2/d entering the second norm is 3/2 in every layer; the farthest of {}: layer {}",
      layers, post_layer + 1);
  const std::string between =
      "|x|^2/d after block l is from 1 + l/2 (shown as 0) to 1 + 3l/2 (shown as 1): ";
  lowest.statement = between + "lowest mean";
  highest.statement = between + "highest mean";
  const Claim every_point{
      .title = "Lemma 2, pre-norm",
      .statement = fmt::format(
          "so is every single point, which the lemma does not say: share of {:.0f}", points),
      .measured = {inside / points, 0.0},
      .low = 1.0,
      .high = 1.0};
  return {post, lowest, highest, every_point};
}

std::vector<Claim> jacobian_claims(const Options& options) {
  constexpr std::int64_t kWidth = 48;  // of a Jacobian whose singular values come quickly
  constexpr double kSizes[] = {0.01, 1.0, 100.0};
  std::vector<double> of_centred, of_token;
  for (std::int64_t seed = 0; seed < options.seeds; ++seed) {
    Generator generator(static_cast<std::uint64_t>(seed));
    for (double size : kSizes) {
      Tensor x = generator.randn({kWidth});
      for (double& value : x.mutable_values()) value *= size;
      Tape tape;
      const Var input = tape.variable(x);
      const Tensor j =
          jacobian(layer_norm(input, {kWidth}, std::nullopt, std::nullopt, /*eps=*/0.0), input);
      double mean = 0.0;
      for (double value : x.values()) mean += value / static_cast<double>(kWidth);
      Tensor y = x;
      for (double& value : y.mutable_values()) value -= mean;
      const double scaled = svd(j).values.front() / std::sqrt(static_cast<double>(kWidth));
      of_centred.push_back(scaled * length(y.values()));
      of_token.push_back(scaled * length(x.values()));
    }
  }
  return {{.title = "Lemma 3",
           .statement = "||Jacobian of LN||_2 |y| / sqrt(d) is 1, y = x - mean(x)",
           .measured = estimate(of_centred),
           .low = 1.0,
           .high = 1.0,
           .margin = 1e-9,
           .must_hold = true},
          {.title = "Lemma 3",
           .statement = "with |x| in place of |y|, for Gaussian x: 1 up to O(1/d)",
           .measured = estimate(of_token),
           .low = 1.0,
           .high = 1.0,
           .margin = 2.0 / static_cast<double>(kWidth)}};
}

std::vector<Claim> gradient_claims(const Measured& measured) {
  Claim post = exponent_claim(measured, Placement::post, Axis::depth);
  post.statement =
      "post-norm: exponent of the last W2's gradient in the depth L, as if the bound were a law: 0";
  post.low = post.high = 0.0;
  Claim pre = exponent_claim(measured, Placement::pre, Axis::depth);
  pre.statement = "pre-norm: the same: -1/2";
  pre.low = pre.high = -0.5;
  std::vector<Claim> claims{post, pre};
  for (Claim& claim : claims) claim.margin = 0.02;

  std::vector<double> x, y;  // the bound, d sqrt(ln d)
  for (std::int64_t width : measured.options.widths) {
    const double ln_d = std::log(static_cast<double>(width));
    x.push_back(ln_d);
    y.push_back(ln_d + 0.5 * std::log(ln_d));
  }
  const double bound = fit_line(x, y).slope;
  for (Placement placement : {Placement::post, Placement::pre}) {
    Claim claim = exponent_claim(measured, placement, Axis::width);
    claim.statement = fmt::format(
        "{}-norm: grows with the width no faster than d sqrt(ln d), whose exponent is {:.2f} here",
        name(placement), bound);
    claim.low = -std::numeric_limits<double>::infinity();
    claim.high = bound;
    claim.must_hold = true;
    claims.push_back(claim);
  }
  return claims;
}

Estimate share_outside(const Measured& measured, Placement placement, std::int64_t width) {
  const std::vector<const Point*> seeds = measured.seeds(Axis::width, placement, width);
  double mean = 0.0, count = 0.0;
  for (const Point* point : seeds) {
    for (double size : point->measured.last_sizes) {
      mean += size;
      count += 1.0;
    }
  }
  mean /= count;
  std::vector<double> outside;  // of one seed's tokens
  for (const Point* point : seeds) {
    double far = 0.0;
    for (double size : point->measured.last_sizes) {
      far += std::abs(size - mean) > kEpsilon * mean ? 1.0 : 0.0;
    }
    outside.push_back(far / static_cast<double>(point->measured.last_sizes.size()));
  }
  return estimate(outside);
}

std::vector<Claim> boundedness_claims(const Measured& measured) {
  const std::int64_t widest = measured.options.widest();
  std::vector<Claim> claims;
  for (Placement placement : {Placement::post, Placement::pre}) {
    claims.push_back({.title = fmt::format("(epsilon, delta)-bounded, {}-norm", name(placement)),
                      .statement = fmt::format("at d = {}, |x|^2 entering the last norm is within "
                                               "{:g} of its mean but for a share of tokens < 0.1",
                                               widest, kEpsilon),
                      .measured = share_outside(measured, placement, widest),
                      .low = 0.0,
                      .high = 0.1,
                      .resolution = 0.02});
  }
  return claims;
}

std::vector<Claim> claims(const Measured& measured) {
  std::vector<Claim> all;
  for (const std::vector<Claim>& group :
       {relu_claims(measured.options), stream_claims(measured), jacobian_claims(measured.options),
        gradient_claims(measured), boundedness_claims(measured)}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

}  // namespace normlab::lemmas
