#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "experiments/init_gradients/init_gradients.hpp"
#include "tests/experiments/lab/report/report_samples.hpp"

using namespace normlab;
using namespace normlab::init_gradients;

namespace {

// Made up: the gradient of layer l of a stack of L, placement p and seed s is
// (p + 1) (l + s) / sqrt(L), the stream 10 + l.
Measured made_up() {
  Measured result;
  result.tokens = {Tensor::ones({2, 16, 4}), {0, 2}};
  result.options.seeds = {0, 1, 2};
  result.options.layers = {4, 1};
  result.options.profile_layers = 2;
  for (const InputScale& scale : result.options.scales) {
    for (Placement placement : result.options.placements) {
      for (std::uint64_t seed : result.options.seeds) {
        for (std::int64_t layers : {1, 2, 4}) {
          result.points.push_back({{layers, placement, seed, scale.value}, {}});
        }
      }
    }
  }
  for (Point& point : result.points) {
    const bool pre = point.configuration.placement == Placement::pre;
    const auto layers = static_cast<double>(point.configuration.layers);
    for (double l = 1; l <= layers; ++l) {
      point.measured.w2_grad_norm.push_back((pre ? 2.0 : 1.0) *
                                            (l + static_cast<double>(point.configuration.seed)) /
                                            std::sqrt(layers));
      point.measured.stream_sq_norm_per_d.push_back(10.0 + l);
    }
    if (pre) point.measured.stream_sq_norm_per_d.push_back(11.0 + layers);
  }
  result.finite_differences.push_back({Placement::post, 1, 1.0, 1.0 + 1e-3, 1.0});
  result.norm_agreement = {1e-16, 0.5};
  return result;
}

double relative_error(double got, double expected) { return std::abs(got / expected - 1.0); }

const Series& named(const Figure& figure, const std::string& name) {
  return *std::find_if(figure.series.begin(), figure.series.end(),
                       [&](const Series& series) { return series.name == name; });
}

}  // namespace

TEST_CASE(
    "init_gradients, figures: gradients by layer are medians between the extremes of the seeds") {
  const std::vector<Figure> drawn = figures(made_up());
  REQUIRE(drawn.size() == 4);
  const Series& pre = named(drawn[0], "pre-norm");
  CHECK(pre.x == std::vector<double>{1, 2});
  for (std::size_t at = 0; at < 2; ++at) {
    const double l = static_cast<double>(at) + 1.0, unit = 2.0 / std::sqrt(2.0);
    CHECK(relative_error(pre.low[at], unit * l) < 1e-15);
    CHECK(relative_error(pre.y[at], unit * (l + 1.0)) < 1e-15);
    CHECK(relative_error(pre.high[at], unit * (l + 2.0)) < 1e-15);
  }
}

TEST_CASE("init_gradients, figures: pre-norm's stream ends at the final norm, beside Lemma 2") {
  const Figure figure = figures(made_up())[1];
  CHECK(named(figure, "post-norm").y == std::vector<double>{11, 12});
  CHECK(named(figure, "pre-norm").y == std::vector<double>{11, 12, 13});
  CHECK(named(figure, "Lemma 2, post: 3/2").y == std::vector<double>{1.5, 1.5});
  CHECK(named(figure, "Lemma 2, pre: lower limit 1 + (l - 1)/2").y ==
        std::vector<double>{1.0, 1.5, 2.0});
}

TEST_CASE("init_gradients, figures: Lemma 2 is drawn for the input that it is about only") {
  Measured result = made_up();
  std::swap(result.options.scales[0], result.options.scales[1]);
  for (Point& point : result.points)
    point.configuration.scale = point.configuration.scale == 1.0 ? 0.125 : 1.0;
  CHECK(figures(result)[1].series.size() == 2);
}

TEST_CASE(
    "init_gradients, figures: Theorem 1 goes through pre-norm's median at the smallest depth") {
  const std::vector<Figure> drawn = figures(made_up());
  for (std::size_t at : {2u, 3u}) {
    const Figure& figure = drawn[at];
    CHECK(figure.log_x);
    CHECK(figure.log_y);
    const Series& pre = named(figure, "pre-norm");
    CHECK(pre.x == std::vector<double>{1, 4});
    const Series& theory = named(figure, "slope -1/2 (Theorem 1, pre)");
    CHECK(theory.y[0] == pre.y[0]);
    CHECK(relative_error(theory.y[1], 0.5 * pre.y[0]) < 1e-15);
  }
}

TEST_CASE("init_gradients, page: the tables hold the numbers, and a failed check shows") {
  const lab::Results found = results(made_up());
  const auto text = [&](std::size_t table, std::size_t row, std::size_t column) {
    const lab::Table& t = found.tables.at(table);
    return lab::cell_text(t.rows.at(row).at(column), t.columns.at(column));
  };
  CHECK(text(0, 0, 0) == "1");
  CHECK(text(0, 0, 1) == "1.4142 [0.7071, 2.1213]");
  CHECK(text(0, 0, 2) == "2.8284 [1.4142, 4.2426]");
  CHECK(text(0, 0, 4) == "11.0000 [11.0000, 11.0000]");
  CHECK(text(1, 0, 1) == "13.0000 [13.0000, 13.0000]");  // of pre-norm
  CHECK(text(2, 1, 1) == "1.5000 [1.3333, 2.0000]");
  CHECK(text(3, 0, 0) == "unit");
  CHECK(text(3, 0, 1) == "4");
  CHECK(text(3, 0, 2) == "2.5000 [2.0000, 3.0000]");
  CHECK(text(3, 0, 3) == "5.0000 [4.0000, 6.0000]");
  CHECK(text(3, 0, 4) == "10.0000");
  CHECK(text(4, 0, 2) == "no");
  CHECK(text(4, 1, 2) == "yes");
  CHECK(found.exit_code == 1);
}

TEST_CASE("init_gradients, page: one placement alone makes a page") {
  Measured result = made_up();
  for (Placement placement : {Placement::post, Placement::pre}) {
    result.options.placements = {placement};
    const lab::Results found = results(result);
    CHECK(found.tables[1].rows.size() == (placement == Placement::pre ? 1 : 0));
    CHECK(contains(lab::to_html(found, {"normlab-no-such-gnuplot"}), "<td>"));
  }
}
