// Mean-field theory against simulation at widths where it should be sharp. Minutes, so not part of
// the unit tests: ctest -L slow.
#include <cmath>

#include <doctest/doctest.h>

#include "experiments/lab/runs/jobs.hpp"
#include "experiments/lab/stats/line_fit.hpp"
#include "experiments/lab/stats/statistics.hpp"
#include "experiments/theory/mean_field_measurement.hpp"

using namespace normlab;

namespace {

constexpr Placement kDerived[] = {Placement::post, Placement::pre, Placement::res_post};

MeanFieldSetting square(Placement placement, std::int64_t layers, std::int64_t width) {
  return {.placement = placement, .layers = layers, .width = width, .ffn = width};
}

std::vector<MeanFieldMeasurement> measure(const MeanFieldSetting& setting, std::size_t seeds,
                                          Passes passes = Passes::forward_and_backward) {
  std::vector<MeanFieldMeasurement> measured(seeds);
  std::vector<Job> jobs;
  for (std::size_t seed = 0; seed < seeds; ++seed) {
    jobs.push_back(
        {1.0, [&, seed] { measured[seed] = measure_simplified(setting, seed, passes); }});
  }
  run_jobs(jobs, 2);
  return measured;
}

constexpr std::vector<double> SquaredNorms::*kWeights[] = {&SquaredNorms::w1, &SquaredNorms::w2,
                                                           &SquaredNorms::wv};

// ln(measured norm / expected from the seed's own gradient at the output), one number per seed.
std::vector<double> log_ratios(const MeanFieldSetting& setting,
                               const std::vector<MeanFieldMeasurement>& seeds,
                               std::vector<double> SquaredNorms::*weight, std::size_t layer) {
  const std::vector<BlockMoments> blocks = forward_moments(setting);
  std::vector<double> ratios;
  for (const MeanFieldMeasurement& seed : seeds) {
    const SquaredNorms expected = expected_gradients(setting, blocks, seed.output_gradient);
    ratios.push_back(0.5 * std::log((seed.gradients.*weight)[layer] / (expected.*weight)[layer]));
  }
  return ratios;
}

double root_mean_square(const std::vector<double>& values) {
  double squares = 0.0;
  for (double value : values) squares += value * value;
  return std::sqrt(squares / static_cast<double>(values.size()));
}

}  // namespace

TEST_CASE("mean_field, slow: forward moments are within 3 % at d = 1024, 24 layers") {
  for (Placement placement : kDerived) {
    const MeanFieldSetting setting = square(placement, 24, 1024);
    const auto seeds = measure(setting, 24, Passes::forward);
    const std::vector<BlockMoments> blocks = forward_moments(setting);
    double worst_size = 0.0, worst_within = 0.0, worst_across = 0.0;
    for (std::size_t l = 0; l < blocks.size(); ++l) {
      for (PairMoments BlockMoments::*point :
           {&BlockMoments::after_attention, &BlockMoments::after_ffn}) {
        PairMoments mean;
        for (const auto& seed : seeds) {
          mean = mean + seed.blocks[l].*point / static_cast<double>(seeds.size());
        }
        const PairMoments& expected = blocks[l].*point;
        worst_size = std::max(worst_size, std::abs(mean.same / expected.same - 1.0));
        worst_within = std::max(worst_within, std::abs(mean.within / expected.within - 1.0));
        // The covariance of two sequences starts at 0: off by what part of |x|^2?
        worst_across =
            std::max(worst_across, std::abs(mean.across - expected.across) / expected.same);
      }
    }
    MESSAGE(name(placement), ": worst of all layers, |x|^2 ", worst_size, ", within ", worst_within,
            ", across ", worst_across);
    CHECK(worst_size < 0.03);
    CHECK(worst_within < 0.03);
    CHECK(worst_across < 0.03);
  }
}

TEST_CASE("mean_field, slow: every gradient is within 5 % at d = 1024, error like 1 / sqrt(d)") {
  constexpr std::int64_t kWidest = 1024;
  for (Placement placement : kDerived) {
    std::vector<double> ln_width, ln_error;
    for (std::int64_t width : {std::int64_t{64}, std::int64_t{256}, kWidest}) {
      const MeanFieldSetting setting = square(placement, 6, width);
      const auto seeds = measure(setting, 24);
      std::vector<double> errors;
      double worst = 0.0;
      for (const auto weight : kWeights) {
        for (std::size_t l = 0; l < 6; ++l) {
          const std::vector<double> ratios = log_ratios(setting, seeds, weight, l);
          errors.insert(errors.end(), ratios.begin(), ratios.end());
          worst = std::max(worst, std::abs(std::expm1(estimate(ratios).mean)));
        }
      }
      ln_width.push_back(std::log(static_cast<double>(width)));
      ln_error.push_back(std::log(root_mean_square(errors)));
      MESSAGE(name(placement), " d = ", width, ": one seed is off by ", root_mean_square(errors),
              ", the mean of all at worst by ", worst);
      if (width == kWidest) CHECK(worst < 0.05);
    }
    const LineFit fit = fit_line(ln_width, ln_error);
    MESSAGE(name(placement), ": error ~ d^", fit.slope, " +- ", fit.slope_error);
    CHECK(fit.slope < -0.35);
    CHECK(fit.slope > -0.65);
  }
}

TEST_CASE("mean_field, slow: the whole theory is within the standard error of many seeds") {
  for (Placement placement : kDerived) {
    const MeanFieldSetting setting = square(placement, 6, 256);
    const auto seeds = measure(setting, 200);
    const std::vector<BlockMoments> blocks = forward_moments(setting);
    const SquaredNorms expected =
        expected_gradients(setting, blocks, output_gradient(setting, blocks));
    double worst = 0.0;
    for (const auto weight : kWeights) {
      for (std::size_t l = 0; l < 6; ++l) {
        std::vector<double> squares;
        for (const auto& seed : seeds) squares.push_back((seed.gradients.*weight)[l]);
        const Estimate got = estimate(squares);
        const double off = (got.mean - (expected.*weight)[l]) / got.error;
        MESSAGE(name(placement), " layer ", l + 1, ": ", got.mean, " for ", (expected.*weight)[l],
                ", ", off, " standard errors");
        worst = std::max(worst, std::abs(off));
      }
    }
    CHECK(worst < 3.0);
  }
}
