#include "experiments/compare_norms/compare_norms.hpp"

#include <cmath>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "experiments/compare_norms/report.hpp"

using namespace normlab;

namespace {

CompareNormsResult measured(const CompareNormsOptions& options, int threads = 1) {
  CompareNormsResult result{options, needed_cells(options)};
  measure_cells(options, load_digits(), threads, result.cells);
  return result;
}

CompareNormsOptions small(const std::vector<Placement>& placements,
                          const std::vector<std::string>& norms = {"layernorm"}) {
  CompareNormsOptions options;
  options.width = 16;
  options.ffn = 32;
  options.images = 4;
  options.norms = norms;
  options.placements = placements;
  options.layers = {2, 4, 8};
  options.seeds = {0, 1};
  return options;
}

ComparedNorm only(const CompareNormsOptions& options) { return measured(options).summary().at(0); }

}  // namespace

// What the source article says of each variant, on these numbers.
TEST_CASE("compare_norms: post-norm's stream stays, pre-norm's grows") {
  const ComparedNorm post = only(small({Placement::post}));
  const ComparedNorm pre = only(small({Placement::pre}));
  CHECK(std::abs(post.stream_per_block) < 0.05);
  CHECK(std::abs(post.stream_exponent) < 0.2);
  CHECK(pre.stream_per_block > 0.3);
  CHECK(pre.stream_exponent > 0.5);
}

TEST_CASE("compare_norms: res-post adds at most its norms' two tokens of size 1 per block") {
  // "Does not accumulate" is said of trained weights: with branch weights of any size the stream
  // grows by what the norms let through, where pre-norm's grows with their square.
  CompareNormsOptions options = small({Placement::res_post});
  const CompareNormsResult result = measured(options);
  for (const ComparedCell& each : result.cells) {
    const std::vector<double>& stream = each.measured.stream_sq_norm_per_d;
    for (std::size_t i = 0; i + 1 < stream.size(); ++i) {
      // |x + u + v| <= |x| + |u| + |v|, with |u|^2 / d and |v|^2 / d at most 1.
      CHECK(std::sqrt(stream[i + 1]) <= std::sqrt(stream[i]) + 2.0 + 1e-12);
    }
  }
}

TEST_CASE("compare_norms: adaln-zero and rezero start as the identity") {
  for (const Placement placement : {Placement::ada_ln_zero, Placement::re_zero}) {
    const CompareNormsResult result = measured(small({placement}));
    for (const ComparedCell& each : result.cells) {
      for (double size : each.measured.stream_sq_norm_per_d) {
        CHECK(size == each.measured.stream_sq_norm_per_d.front());
      }
      for (double gradient : each.measured.w2_grad_norm) CHECK(gradient == 0.0);
    }
    const ComparedNorm row = result.summary().at(0);
    CHECK(row.stream_per_block == 0.0);
    CHECK(std::isnan(row.ratio.median));
    CHECK(std::isnan(row.depth.slope));
  }
}

TEST_CASE("compare_norms: a small gate makes layerscale's stream grow less than pre-norm's") {
  CHECK(only(small({Placement::layer_scale})).stream_per_block <
        0.1 * only(small({Placement::pre})).stream_per_block);
}

TEST_CASE("compare_norms: every norm in every placement gives finite numbers") {
  CompareNormsOptions options = compare_all_norms();
  options.width = 8;
  options.heads = 2;
  options.ffn = 8;
  options.images = 2;
  options.layers = {1, 2};
  options.seeds = {0};
  const CompareNormsResult result = measured(options, 2);
  CHECK(result.all_finite());
  // rezero has no norm: one row for all of them.
  CHECK(result.summary().size() == options.norms.size() * (options.placements.size() - 1) + 1);
  CHECK(text_of(result) == text_of(measured(options, 1)));
  CHECK(json_of(result) == json_of(measured(options, 1)));
  std::size_t column = 0;
  for (const char c : text_of(result)) {
    column = c == '\n' ? 0 : column + 1;
    CHECK(column <= 80);
  }
}

TEST_CASE("compare_norms: the depth exponent is the slope of the logarithms") {
  CompareNormsOptions options = small({Placement::pre});
  CompareNormsResult result{options, needed_cells(options)};
  for (ComparedCell& each : result.cells) {  // made up: 3 L^(-1/2), stream 2 + l
    const auto depth = static_cast<double>(each.cell.layers);
    each.measured.w2_grad_norm = {1.0, 3.0 / std::sqrt(depth)};
    each.measured.stream_sq_norm_per_d = {3.0, 4.0, 5.0};
    each.measured.loss = 2.0;
  }
  const ComparedNorm row = result.summary().at(0);
  CHECK(std::abs(row.depth.slope + 0.5) < 1e-14);
  CHECK(row.depth.slope_error < 1e-14);
  CHECK(row.stream_per_block == 1.0);
  CHECK(row.first.median == 1.0);
  CHECK(row.last.median == 3.0 / std::sqrt(8.0));
  CHECK(row.loss.median == 2.0);
}

TEST_CASE("compare_norms: known cells are not measured again") {
  const CompareNormsOptions options = small({Placement::pre});
  CompareNormsResult result{options, needed_cells(options)};
  result.cells[1].known = true;
  result.cells[1].measured.loss = 42.0;
  int finished = 0;
  measure_cells(options, load_digits(), 1, result.cells, [&](const ComparedCell&) { ++finished; });
  CHECK(finished == static_cast<int>(result.cells.size()) - 1);
  CHECK(result.cells[1].measured.loss == 42.0);
  CHECK(result.cells[0].known);
}

TEST_CASE("compare_norms: options that do not fit are refused") {
  const auto refused = [](const auto& change, const char* part) {
    CompareNormsOptions options = small({Placement::pre});
    change(options);
    std::string message;
    try {
      check_options(options);
    } catch (const std::invalid_argument& error) {
      message = error.what();
    }
    CHECK_MESSAGE(message.find(part) != std::string::npos, message);
  };
  refused([](CompareNormsOptions& o) { o.width = 10; }, "--width: must be a positive multiple");
  refused([](CompareNormsOptions& o) { o.norms = {}; }, "--norm: must name at least one");
  refused([](CompareNormsOptions& o) { o.norms = {"foo"}; }, "must be one of layernorm");
  refused([](CompareNormsOptions& o) { o.layers = {2, 2}; }, "--layers: must differ");
  refused([](CompareNormsOptions& o) { o.layers = {0}; }, "--layers: must be at least 1");
  refused(
      [](CompareNormsOptions& o) {
        o.seeds = {0, std::uint64_t{1} << 32};
      },
      "--seeds: must differ");
}

TEST_CASE("compare_norms: JSON has the table and every cell, the page a figure for each question") {
  const CompareNormsResult result = measured(small({Placement::pre, Placement::re_zero}));
  const nlohmann::json json = nlohmann::json::parse(json_of(result));
  CHECK(json["experiment"] == "compare_norms");
  CHECK(json["summary"].size() == 2);
  CHECK(json["cells"].size() == result.cells.size());
  CHECK(json["cells"][0]["w2_grad_norm"].size() == 2);
  CHECK(json["summary"][1]["last_over_first"]["median"] == "nan");
  const Report report = report_of(result, "compare_norms");
  REQUIRE(report.figures.size() == 4);
  CHECK(report.figures[0].series.size() == 2);  // a line for each placement
  CHECK(report.figures[2].series.size() == 1);  // a line for each norm
  CHECK(report.tables.front().rows.size() == 2);
}
