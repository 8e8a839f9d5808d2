#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "experiments/init_gradients/report.hpp"
#include "tests/experiments/lab/report/report_samples.hpp"

using namespace normlab;

namespace {

// Made up: the gradient of layer l of a stack of L, placement p and seed s is
// (p + 1) (l + s) / sqrt(L), the stream 10 + l.
InitGradientsResult made_up() {
  InitGradientsResult result;
  result.options.seeds = {0, 1, 2};
  result.options.layers = {4, 1};
  result.options.profile_layers = 2;
  for (const InputScale& scale : result.options.scales) {
    for (Placement placement : result.options.placements) {
      for (std::uint64_t seed : result.options.seeds) {
        for (std::int64_t layers : {1, 2, 4}) {
          result.cells.push_back({{layers, placement, seed, scale.value}, {}});
        }
      }
    }
  }
  for (MeasuredCell& each : result.cells) {
    const bool pre = each.cell.placement == Placement::pre;
    const auto layers = static_cast<double>(each.cell.layers);
    for (double l = 1; l <= layers; ++l) {
      each.measured.w2_grad_norm.push_back(
          (pre ? 2.0 : 1.0) * (l + static_cast<double>(each.cell.seed)) / std::sqrt(layers));
      each.measured.stream_sq_norm_per_d.push_back(10.0 + l);
    }
    if (pre) each.measured.stream_sq_norm_per_d.push_back(11.0 + layers);
  }
  result.finite_differences.push_back({Placement::post, 1, 1.0, 1.0 + 1e-3, 1.0});
  result.norm_agreement = {1e-16, 0.5};
  return result;
}

double relative_error(double got, double expected) { return std::abs(got / expected - 1.0); }

const Series& named(const Figure& figure, const std::string& name) {
  return *std::find_if(figure.series.begin(), figure.series.end(),
                       [&](const Series& each) { return each.name == name; });
}

}  // namespace

TEST_CASE("figures_of: gradients by layer are medians between the extremes of the seeds") {
  const std::vector<Figure> figures = figures_of(made_up());
  REQUIRE(figures.size() == 4);
  const Series& pre = named(figures[0], "pre-norm");
  CHECK(pre.x == std::vector<double>{1, 2});
  for (std::size_t at = 0; at < 2; ++at) {
    const double l = static_cast<double>(at) + 1.0, unit = 2.0 / std::sqrt(2.0);
    CHECK(relative_error(pre.low[at], unit * l) < 1e-15);
    CHECK(relative_error(pre.y[at], unit * (l + 1.0)) < 1e-15);
    CHECK(relative_error(pre.high[at], unit * (l + 2.0)) < 1e-15);
  }
}

TEST_CASE("figures_of: pre-norm's stream ends at the final norm, beside Lemma 2") {
  const Figure figure = figures_of(made_up())[1];
  CHECK(named(figure, "post-norm").y == std::vector<double>{11, 12});
  CHECK(named(figure, "pre-norm").y == std::vector<double>{11, 12, 13});
  CHECK(named(figure, "Lemma 2, post: 3/2").y == std::vector<double>{1.5, 1.5});
  CHECK(named(figure, "Lemma 2, pre: lower limit 1 + (l - 1)/2").y ==
        std::vector<double>{1.0, 1.5, 2.0});
}

TEST_CASE("figures_of: Lemma 2 is drawn for the input that it is about only") {
  InitGradientsResult result = made_up();
  std::swap(result.options.scales[0], result.options.scales[1]);
  for (MeasuredCell& each : result.cells) each.cell.scale = each.cell.scale == 1.0 ? 0.125 : 1.0;
  CHECK(figures_of(result)[1].series.size() == 2);
}

TEST_CASE("figures_of: Theorem 1 goes through pre-norm's median at the smallest depth") {
  const std::vector<Figure> figures = figures_of(made_up());
  for (std::size_t at : {2u, 3u}) {
    const Figure& figure = figures[at];
    CHECK(figure.log_x);
    CHECK(figure.log_y);
    const Series& pre = named(figure, "pre-norm");
    CHECK(pre.x == std::vector<double>{1, 4});
    const Series& theory = named(figure, "slope -1/2 (Theorem 1, pre)");
    CHECK(theory.y[0] == pre.y[0]);
    CHECK(relative_error(theory.y[1], 0.5 * pre.y[0]) < 1e-15);
  }
}

TEST_CASE("report_of: the tables hold the numbers, and a failed check shows") {
  const Report report = report_of(made_up(), "init_gradients --seeds 0 1 2");
  CHECK(report.command == "init_gradients --seeds 0 1 2");
  REQUIRE(report.tables.size() == 4);
  CHECK(report.tables[0].rows[0] ==
        std::vector<std::string>{"1", "1.4142 [0.7071, 2.1213]", "2.8284 [1.4142, 4.2426]",
                                 "11.0000 [11.0000, 11.0000]", "11.0000 [11.0000, 11.0000]"});
  CHECK(report.tables[0].rows[2] ==
        std::vector<std::string>{"final norm", "", "", "", "13.0000 [13.0000, 13.0000]"});
  CHECK(report.tables[1].rows[1] ==
        std::vector<std::string>{"pre-norm", "1.5000 [1.3333, 2.0000]"});
  CHECK(report.tables[2].rows[0] == std::vector<std::string>{"unit", "4", "2.5000 [2.0000, 3.0000]",
                                                             "5.0000 [4.0000, 6.0000]", "10.0000"});
  CHECK(report.tables[3].rows[0].back() == "no");
  CHECK(report.tables[3].rows[1].back() == "yes");
}

TEST_CASE("report_of: one placement alone makes a page") {
  InitGradientsResult result = made_up();
  for (Placement placement : {Placement::post, Placement::pre}) {
    result.options.placements = {placement};
    const Report report = report_of(result, "init_gradients");
    CHECK(report.tables[0].rows.size() == (placement == Placement::pre ? 3 : 2));
    CHECK(contains(html_of(report, {"normlab-no-such-gnuplot"}), "<td>"));
  }
}
