// A block is two sub-layers x -> y, and every placement is the same line with norms at other
// places:
//
//   y = norm_sum( x + norm_returned( branch( norm_read(x) ) ) )
//       post          res-post                pre
//
// In a wide network a norm divides by the root of its input's second moment, forth and back: the
// two directions that its Jacobian projects out are a 2/d of the gradient.
// Tested by tests/experiments/theory/mean_field_theory_test.cpp.
#include "experiments/theory/mean_field_theory.hpp"

#include <algorithm>

#include "core/check.hpp"
#include "experiments/theory/mean_field_kernels.hpp"

namespace normlab {

namespace {

constexpr const char* kName = "mean_field";

// The variances of Xavier's matrices, as what a product with them does to |.|^2.
struct Gains {
  explicit Gains(const MeanFieldSetting& s)
      : d(static_cast<double>(s.width)), f(static_cast<double>(s.ffn)) {}
  double d, f;
  double ffn_variance() const { return 2.0 / (d + f); }           // of W1 and W2
  double hidden() const { return 0.5 * f * d * ffn_variance(); }  // |h|^2 of an input of |x|^2 = d
  double gated() const { return 0.5 * f * ffn_variance(); }       // |delta W2^T gate|^2
};

// Moments of relu(x W) from those of x, in units of the former's own |.|^2.
PairMoments relu_moments(const PairMoments& x) {
  return {x.same, x.same * relu_value_kernel(x.correlation_within()),
          x.same * relu_value_kernel(x.correlation_across())};
}

// A gradient that passed the gates of a ReLU whose inputs have the correlations of x.
PairMoments gated_moments(const PairMoments& gradient, const PairMoments& x) {
  return {gradient.same, gradient.within * relu_gate_kernel(x.correlation_within()),
          gradient.across * relu_gate_kernel(x.correlation_across())};
}

// Each token replaced by the mean of its sequence: the same for all of them.
PairMoments mean_over_sequence(const PairMoments& x, std::int64_t tokens) {
  const auto n = static_cast<double>(tokens);
  const double mean = (x.same + (n - 1.0) * x.within) / n;
  return {mean, mean, x.across};
}

// One sub-layer on the way forth; what its norms divide |.|^2 by is 1 where there is none.
struct SubLayer {
  double read_divisor, returned_divisor, sum_divisor;
  PairMoments read;  // by the branch
  PairMoments sum;
};

template <typename Branch>
SubLayer pass(Placement placement, const PairMoments& x, Branch branch) {
  SubLayer layer;
  layer.read_divisor = placement == Placement::pre ? x.same : 1.0;
  layer.read = x / layer.read_divisor;
  const PairMoments returned = branch(layer.read);
  layer.returned_divisor = placement == Placement::res_post ? returned.same : 1.0;
  layer.sum = x + returned / layer.returned_divisor;
  layer.sum_divisor = placement == Placement::post ? layer.sum.same : 1.0;
  return layer;
}

SubLayer attention(const MeanFieldSetting& s, const PairMoments& x) {
  return pass(s.placement, x, [&](const PairMoments& read) {
    return s.value_gain * s.output_gain * mean_over_sequence(read, s.tokens);
  });
}

SubLayer ffn(const MeanFieldSetting& s, const PairMoments& x) {
  const Gains gains(s);
  return pass(s.placement, x, [&](const PairMoments& read) {
    return gains.hidden() * gains.ffn_variance() * relu_moments(read);
  });
}

PairMoments after(const SubLayer& layer) { return layer.sum / layer.sum_divisor; }

// E |sum over all tokens of a^T b|^2: every pair of tokens gives (a . a') (b . b').
double squared_norm_of_sum(const MeanFieldSetting& s, const PairMoments& a, const PairMoments& b) {
  const auto n = static_cast<double>(s.tokens);
  const double all = n * static_cast<double>(s.sequences);
  return all *
         (a.same * b.same + (n - 1.0) * a.within * b.within + (all - n) * a.across * b.across);
}

void check_setting(const MeanFieldSetting& s) {
  check(s.placement == Placement::post || s.placement == Placement::pre ||
            s.placement == Placement::res_post,
        kName, "placement", "must be post, pre or res-post", name(s.placement));
  check(std::min({s.layers, s.width, s.ffn, s.tokens, s.sequences, s.classes}) >= 1, kName,
        "setting", "must have sizes of at least 1", "a smaller one");
  check(s.input.same > 0.0, kName, "input", "must have a positive second moment",
        [&] { return std::to_string(s.input.same); });
}

}  // namespace

std::vector<BlockMoments> forward_moments(const MeanFieldSetting& setting) {
  check_setting(setting);
  std::vector<BlockMoments> blocks;
  PairMoments x = setting.input;
  for (std::int64_t block = 0; block < setting.layers; ++block) {
    const SubLayer first = attention(setting, x);
    const SubLayer second = ffn(setting, after(first));
    blocks.push_back({x, first.sum, second.sum});
    x = after(second);
  }
  return blocks;
}

PairMoments output_moments(const MeanFieldSetting& setting,
                           const std::vector<BlockMoments>& blocks) {
  const PairMoments& sum = blocks.back().after_ffn;
  return setting.placement == Placement::post ? sum / sum.same : sum;
}

PairMoments output_gradient(const MeanFieldSetting& setting,
                            const std::vector<BlockMoments>& blocks) {
  const auto d = static_cast<double>(setting.width), classes = static_cast<double>(setting.classes);
  const double all = static_cast<double>(setting.tokens * setting.sequences);
  const double logit_variance = 2.0 * d / (d + classes);
  const PairMoments x = output_moments(setting, blocks);
  const auto overlap = [&](double correlation) {
    return softmax_overlap(std::clamp(correlation, 0.0, 1.0), logit_variance, setting.classes);
  };
  // (p - y) . (p' - y'), y a one-hot label: p . y' is 1 / classes on average, y . y' is 1 for the
  // same label and 1 / classes for independent ones.
  const double chance = 1.0 / classes;
  const double same_label = setting.one_label_per_sequence ? 1.0 : chance;
  const PairMoments error{overlap(1.0) - 2.0 * chance + 1.0,
                          overlap(x.correlation_within()) - 2.0 * chance + same_label,
                          overlap(x.correlation_across()) - chance};
  return logit_variance / (all * all) * error;
}

SquaredNorms expected_gradients(const MeanFieldSetting& setting,
                                const std::vector<BlockMoments>& blocks,
                                const PairMoments& output) {
  const Gains gains(setting);
  SquaredNorms result;
  PairMoments delta = output;
  if (entry(setting.placement).needs_final_norm) {
    delta = delta / output_moments(setting, blocks).same;
  }
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    const SubLayer first = attention(setting, block->input);
    const SubLayer second = ffn(setting, after(first));

    delta = delta / second.sum_divisor;
    PairMoments returned = delta / second.returned_divisor;
    const PairMoments gated = gains.gated() * gated_moments(returned, second.read);
    result.w2.push_back(
        squared_norm_of_sum(setting, gains.hidden() * relu_moments(second.read), returned));
    result.w1.push_back(squared_norm_of_sum(setting, gains.d * second.read, gated));
    delta = delta + gains.d * gains.ffn_variance() * gated / second.read_divisor;

    delta = delta / first.sum_divisor;
    returned = setting.output_gain * (delta / first.returned_divisor);
    const PairMoments mean = mean_over_sequence(first.read, setting.tokens);
    result.wv.push_back(squared_norm_of_sum(setting, gains.d * mean, returned));
    delta = delta +
            setting.value_gain * mean_over_sequence(returned, setting.tokens) / first.read_divisor;
  }
  for (auto* list : {&result.w1, &result.w2, &result.wv}) std::reverse(list->begin(), list->end());
  return result;
}

}  // namespace normlab
