#include "experiments/discrepancy/discrepancy.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "experiments/discrepancy/report.hpp"
#include "experiments/discrepancy/summary.hpp"
#include "tests/experiments/discrepancy/discrepancy_cases.hpp"

using namespace normlab;

namespace {

std::string text_of_cell(const DiscrepancyResult::Cell& each) {
  return key_of(each.cell).dump() + json_of(each.measured).dump();
}

std::vector<std::string> lines_of(const DiscrepancyResult& result) {
  std::vector<std::string> lines;
  for (const DiscrepancyResult::Cell& each : result.cells) lines.push_back(text_of_cell(each));
  return lines;
}

double relative_error(double got, double expected) { return std::abs(got / expected - 1.0); }

// Seed s scatters the exponent by s/100 and the profile by a factor e^s; rung number r adds r/10 to
// the exponent and doubles top/bottom r times.
DiscrepancyResult made_up() {
  DiscrepancyResult result;
  const std::vector<Rung> rungs = ladder();
  result.options.rungs = {rungs[0], rungs[1], rungs[2]};
  result.options.layers = {24, 6, 12};
  result.options.seeds = {0, 1, 2};
  for (const DiscrepancyCell& cell : needed_cells(result.options)) {
    const double rung = cell.rung == rungs[0].name ? 0.0 : cell.rung == rungs[1].name ? 1.0 : 2.0;
    const auto depth = static_cast<double>(cell.layers), seed = static_cast<double>(cell.seed);
    DiscrepancyMeasurement m;
    const auto layers = static_cast<std::size_t>(cell.layers);
    m.w2_grad_norm.assign(layers, std::pow(depth, 0.1 * rung + 0.01 * seed));
    m.w2_grad_norm.front() /= std::pow(2.0, rung) * std::exp(seed);
    m.square.assign(layers, 8.0);
    m.self.assign(layers, 2.0 + 0.1 * seed);
    m.same_sequence.assign(layers, -1.0);
    m.similarity_within.assign(layers + 1, 0.5);
    m.similarity_across.assign(layers + 1, 0.25);
    result.cells.push_back({cell, m});
  }
  return result;
}

class TemporaryName {
 public:
  TemporaryName() {
    std::string name = (std::filesystem::temp_directory_path() / "normlab-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~TemporaryName() { std::filesystem::remove_all(folder_); }
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;
  std::string path() const { return folder_ + "/cells"; }
  std::string text() const {
    std::ostringstream text;
    text << std::ifstream(path()).rdbuf();
    return text.str();
  }

 private:
  std::string folder_;
};

}  // namespace

TEST_CASE("ladder: names are unique, and every base stands before its rungs and is another") {
  std::set<std::string> seen;
  std::vector<std::string> starts;
  const std::vector<Rung> rungs = ladder();
  for (const Rung& rung : rungs) {
    CAPTURE(rung.name);
    CHECK(seen.insert(rung.name).second);
    CHECK(rung.name.size() <= 24);  // what the tables have room for
    CHECK(rung.base.size() + rung.change.size() <= 49);
    if (rung.base.empty()) {
      starts.push_back(rung.name);
      continue;
    }
    REQUIRE(seen.contains(rung.base));
    const auto base = std::find_if(rungs.begin(), rungs.end(),
                                   [&](const Rung& each) { return each.name == rung.base; });
    CHECK_FALSE(base->setting == rung.setting);
  }
  CHECK(starts == std::vector<std::string>{"article", "paper"});
}

TEST_CASE("summarize: exponents and ratios are fitted by seed, and changes are paired") {
  const std::vector<RungSummary> all = summarize(made_up());
  REQUIRE(all.size() == 6);
  const double scatter = 0.01 / std::sqrt(3.0);  // standard error of 0, 0.01, 0.02
  for (std::size_t r = 0; r < 3; ++r) {
    const auto rung = static_cast<double>(r);
    CHECK(std::abs(all[r].exponent.mean - (0.1 * rung + 0.01)) < 1e-12);
    CHECK(relative_error(all[r].exponent.error, scatter) < 1e-9);
    const double ratio = std::exp(1.0) * std::pow(2.0, rung);  // at 12 layers, in spite of 24
    CHECK(relative_error(all[r].top_bottom.mean, ratio) < 1e-12);
    CHECK(relative_error(all[r].top_bottom.error, ratio / std::sqrt(3.0)) < 1e-12);
    if (r == 0) {
      CHECK(std::isnan(all[r].exponent_change.mean));
      continue;
    }
    CHECK(std::abs(all[r].exponent_change.mean - 0.1 * rung) < 1e-12);
    CHECK(all[r].exponent_change.error < 1e-12);  // the seeds' scatter is common to both
    CHECK(relative_error(all[r].top_bottom_factor.mean, std::pow(2.0, rung)) < 1e-12);
  }
  CHECK(relative_error(all[0].self, 2.1 / 8.0) < 1e-12);
  CHECK(all[0].same_sequence == -1.0 / 8.0);
  CHECK(std::abs(all[0].across_sequences - (1.0 - 1.1 / 8.0)) < 1e-12);
}

TEST_CASE("geometric: exp of the mean of logarithms") {
  CHECK(relative_error(geometric({2.0, 8.0}).mean, 4.0) < 1e-15);
}

TEST_CASE("discrepancy: text fits 80 columns, and the report has a row for every rung") {
  DiscrepancyResult result = made_up();
  std::istringstream lines(text_of(result));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    CAPTURE(line);
    CHECK(line.size() <= 80);
  }
  CHECK(count > 20);
  const Report report = report_of(result, "discrepancy");
  REQUIRE(report.tables.size() == 5);
  for (const Table& table : report.tables) CHECK(table.rows.size() == 3);
  CHECK(report.tables[0].rows[1][2] == "0.10 ± 0.00");
  CHECK(report.figures[0].series.size() == 2);  // of the main rungs, article and token_labels
  CHECK(report.figures[0].series[1].x == std::vector<double>{6, 12, 24});
  CHECK(html_of(report, {"normlab-no-such-gnuplot"}).find("<td>article</td>") != std::string::npos);
}

TEST_CASE("discrepancy_from: a measurement is read back bit for bit, and what is none is refused") {
  DiscrepancyMeasurement m = made_up().cells.back().measured;
  m.loss = std::nextafter(0.1, 1.0);
  m.similarity_within[0] = std::numeric_limits<double>::quiet_NaN();
  m.square[0] = std::numeric_limits<double>::infinity();
  const DiscrepancyMeasurement back =
      discrepancy_from(nlohmann::ordered_json::parse(json_of(m).dump()),
                       static_cast<std::int64_t>(m.w2_grad_norm.size()));
  CHECK(back.loss == m.loss);
  CHECK(back.w2_grad_norm == m.w2_grad_norm);
  CHECK(std::isnan(back.similarity_within[0]));
  CHECK(back.square == m.square);
  CHECK(json_of(back).dump() == json_of(m).dump());
  for (const char* text : {"{}", "[1]", "{\"loss\":3}"}) {
    CHECK_THROWS_AS(discrepancy_from(nlohmann::ordered_json::parse(text), 2), std::runtime_error);
  }
}

TEST_CASE("run_discrepancy: known cells are not computed again, and change nothing") {
  const DiscrepancyOptions options = small_discrepancy();
  std::vector<std::string> finished;
  const auto note = [&](const DiscrepancyResult::Cell& cell) {
    finished.push_back(text_of_cell(cell));
  };
  const DiscrepancyResult whole = run_discrepancy(options, 1, {}, note);
  const std::vector<std::string> lines = lines_of(whole);
  CHECK(lines.size() == 3 * 2 * 2 * 2);  // rungs, placements, depths, seeds
  CHECK(std::set(finished.begin(), finished.end()) == std::set(lines.begin(), lines.end()));
  finished.clear();
  std::vector<DiscrepancyResult::Cell> known;
  for (std::size_t i = 0; i < lines.size(); i += 2) known.push_back(whole.cells[i]);
  CHECK(lines_of(run_discrepancy(options, 1, known, note)) == lines);
  CHECK(finished.size() == lines.size() / 2);
}

TEST_CASE("discrepancy: wide rungs have fewer seeds, and their deep cells two parts") {
  DiscrepancyOptions options;
  options.seeds = {4, 2, 9};
  options.large_seeds = 2;
  Rung rung{"r", "", "", Setting{}};
  CHECK(options.seeds_of(rung) == options.seeds);
  CHECK(options.parts_of(rung.setting, 24) == 1);
  rung.setting.width = 512;
  CHECK(options.seeds_of(rung) == std::vector<std::uint64_t>{4, 2});
  CHECK(options.parts_of(rung.setting, 24) == 2);
  CHECK(options.parts_of(rung.setting, 12) == 1);
}

TEST_CASE("discrepancy: options that do not fit together are refused") {
  const auto refused = [](auto change, const char* part) {
    DiscrepancyOptions options = small_discrepancy();
    change(options);
    CHECK_THROWS_WITH_AS(check_options(options), doctest::Contains(part), std::invalid_argument);
  };
  refused([](auto& o) { o.layers = {6}; }, "--layers: must be two or more, for an exponent, got 6");
  refused([](auto& o) { o.layers = {6, 6}; }, "--layers: must differ from one another");
  refused([](auto& o) { o.seeds = {1, 4294967297}; }, "--seeds: must differ from one another");
  refused([](auto& o) { o.rungs.push_back(o.rungs[0]); }, "--rungs: must differ");
  refused([](auto& o) { o.large_seeds = 0; }, "--large-seeds: must be at least 1");
}
