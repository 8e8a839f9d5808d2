// The tables of init_gradients, in the layout of the source article's script. Tested by
// tests/experiments/init_gradients/article_table_test.cpp, digit for digit by the published run.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/init_gradients/init_gradients.hpp"

namespace normlab::init_gradients {

namespace {

// "post-norm", "pre -norm": the two line up.
std::string padded(Placement placement) {
  return placement == Placement::pre ? "pre -norm" : title(placement);
}

// The name of the column of stream sizes; the published table calls post-norm's sum x5 and
// pre-norm's stream x_l.
std::string stream_title(Placement placement) {
  if (placement == Placement::post) return "post |x5|^2/d";
  if (placement == Placement::pre) return "pre |x_l|^2/d";
  return name(placement) + " |x|^2/d";
}
// Two short names keep the published width.
std::size_t stream_width(Placement placement) {
  return std::max<std::size_t>(12, name(placement).size() + 8);
}
std::size_t depth_width(Placement placement) {
  if (placement == Placement::post) return 9;  // as published
  return std::max<std::size_t>(9, title(placement).size() + 1);
}

// As published for the published norm.
std::string norm_title(const Options& options) {
  return options.model.norm == "layernorm" ? "LN" : options.model.norm;
}

std::string data_line(const Tokens& tokens) {
  const auto pixels = tokens.patches.values();
  const auto count = static_cast<double>(pixels.size());
  const double mean = std::accumulate(pixels.begin(), pixels.end(), 0.0) / count;
  double squares = 0.0;
  for (double pixel : pixels) squares += (pixel - mean) * (pixel - mean);
  const auto classes = *std::max_element(tokens.labels.begin(), tokens.labels.end()) + 1;
  std::vector<std::int64_t> class_counts(static_cast<std::size_t>(classes), 0);
  for (std::int64_t label : tokens.labels) ++class_counts[static_cast<std::size_t>(label)];
  return fmt::format("patches {} pixel mean {:.1e} std {:.3f} | class counts {}\n",
                     tokens.patches.shape().str(), mean, std::sqrt(squares / (count - 1.0)),
                     class_counts);
}

std::string check_lines(const Measured& measured) {
  std::string text;
  for (const FiniteDifferenceCheck& check : measured.finite_differences) {
    text += fmt::format("C1 {} layer {}: autograd vs finite difference, rel err {:.1e}\n",
                        padded(check.placement), check.layer, check.relative_error());
  }
  return text +
         fmt::format(
             "C2 max |RMSNorm - LayerNorm|: centred tokens {:.1e}, uncentred tokens {:.1e}\n",
             measured.norm_agreement.centred, measured.norm_agreement.uncentred);
}

std::string profile_header(const std::vector<Placement>& placements) {
  std::string text = "layer";
  for (Placement placement : placements) {
    text += fmt::format("   {:<21}", title(placement) + " grad");
  }
  for (Placement placement : placements) {
    text += fmt::format("  {:>{}}", stream_title(placement), stream_width(placement));
  }
  return text + "\n";
}

std::string profile_table(const Measured& measured) {
  const Options& options = measured.options;
  std::string text = fmt::format(
      "L = {}: ||dLoss/dW2|| per layer (median over seeds [min, max]); |x|^2/d of the stream each "
      "{} sees\n",
      options.profile_layers, norm_title(options));
  text += profile_header(options.placements);
  for (std::int64_t layer = 0; layer < options.profile_layers; ++layer) {
    const auto at = static_cast<std::size_t>(layer);
    text += fmt::format("{:5}", layer + 1);
    for (Placement placement : options.placements) {
      const Spread gradient =
          spread(over_seeds(measured, measured.profile(placement),
                            [at](const GradientMeasurement& m) { return m.w2_grad_norm[at]; }));
      text += fmt::format("  {:.4f} [{:.4f}, {:.4f}]", gradient.median, gradient.smallest,
                          gradient.largest);
    }
    for (Placement placement : options.placements) {
      const double stream = median(
          over_seeds(measured, measured.profile(placement),
                     [at](const GradientMeasurement& m) { return m.stream_sq_norm_per_d[at]; }));
      text += fmt::format("  {:{}.2f}", stream, stream_width(placement));
    }
    text += "\n";
  }
  for (Placement placement : options.placements) {
    if (!entry(placement).needs_final_norm) continue;
    text += fmt::format(
        "final {} input ({}) |x|^2/d: {:.2f}\n", norm_title(options), title(placement),
        median(over_seeds(measured, measured.profile(placement), [](const GradientMeasurement& m) {
          return m.stream_sq_norm_per_d.back();
        })));
  }
  for (Placement placement : options.placements) {
    const Spread ratio =
        spread(over_seeds(measured, measured.profile(placement),
                          [](const GradientMeasurement& m) { return m.w2_last_over_first(); }));
    text += std::isnan(ratio.median)
                ? fmt::format("{} top/bottom gradient ratio: none, a gradient is zero\n",
                              padded(placement))
                : fmt::format("{} top/bottom gradient ratio: median {:.2f} [{:.2f}, {:.2f}]\n",
                              padded(placement), ratio.median, ratio.smallest, ratio.largest);
  }
  return text;
}

std::string depth_table(const Measured& measured) {
  const Options& options = measured.options;
  std::string text =
      "last layer ||dLoss/dW2_L|| (median over seeds) against depth L\ninput scale    L";
  for (Placement placement : options.placements) {
    text += fmt::format("   {:>{}}", title(placement), depth_width(placement) - 1);
  }
  for (Placement placement : options.placements) {
    if (placement == Placement::pre) text += "   pre-norm * sqrt(L)";
  }
  text += "\n";
  for (const InputScale& scale : options.scales) {
    for (std::int64_t layers : options.layers) {
      text += fmt::format("{:<12} {:3} ", scale.name, layers);
      std::string scaled;
      for (Placement placement : options.placements) {
        const auto last = last_gradients(measured, layers, placement, scale.value);
        text += fmt::format("  {:{}.4f}", median(last), depth_width(placement));
        if (placement == Placement::pre) {
          scaled = fmt::format("   {:9.4f}", times_root_depth(last, layers));
        }
      }
      text += scaled + "\n";
    }
  }
  return text;
}

}  // namespace

std::string article_table(const Measured& measured) {
  const std::string& norm = measured.options.model.norm;
  return fmt::format("normlab {} | seeds [{}]{}\n", NORMLAB_VERSION,
                     fmt::join(measured.options.seeds, ", "),
                     norm == "layernorm" ? "" : " | norm " + norm) +
         data_line(measured.tokens) + check_lines(measured) + "\n" + profile_table(measured) +
         "\n" + depth_table(measured) + "\n";
}

}  // namespace normlab::init_gradients
