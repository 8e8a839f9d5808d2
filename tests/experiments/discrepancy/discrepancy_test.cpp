#include "experiments/discrepancy/discrepancy.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "experiments/discrepancy/measurement.hpp"
#include "experiments/discrepancy/summary.hpp"
#include "tests/experiments/discrepancy/discrepancy_cases.hpp"

using namespace normlab;
using namespace normlab::discrepancy;

namespace {

std::vector<std::string> lines_of(const Measured& measured) {
  std::vector<std::string> lines;
  for (const Point& point : measured.points) lines.push_back(json_of(point.measured).dump());
  return lines;
}

double relative_error(double got, double expected) { return std::abs(got / expected - 1.0); }

// Seed s scatters the exponent by s/100 and the profile by a factor e^s; ablation number r adds
// r/10 to the exponent and doubles top/bottom r times.
Measured made_up() {
  Measured result;
  const std::vector<Ablation> ablations = all_ablations();
  result.options.ablations = {ablations[0], ablations[1], ablations[2]};
  result.options.layers = {24, 6, 12};
  result.options.seeds = {0, 1, 2};
  result.points = points_of(result.options);
  for (Point& point : result.points) {
    const Configuration& configuration = point.configuration;
    const double ablation = configuration.ablation == ablations[0].name   ? 0.0
                            : configuration.ablation == ablations[1].name ? 1.0
                                                                          : 2.0;
    const auto depth = static_cast<double>(configuration.layers),
               seed = static_cast<double>(configuration.seed);
    Measurement& m = point.measured;
    const auto layers = static_cast<std::size_t>(configuration.layers);
    m.w2_grad_norm.assign(layers, std::pow(depth, 0.1 * ablation + 0.01 * seed));
    m.w2_grad_norm.front() /= std::pow(2.0, ablation) * std::exp(seed);
    m.square.assign(layers, 8.0);
    m.self.assign(layers, 2.0 + 0.1 * seed);
    m.same_sequence.assign(layers, -1.0);
    m.similarity_within.assign(layers + 1, 0.5);
    m.similarity_across.assign(layers + 1, 0.25);
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
  std::string path() const { return folder_ + "/log"; }
  void write(const std::string& text) const { std::ofstream(path()) << text; }
  std::string text() const {
    std::ostringstream text;
    text << std::ifstream(path()).rdbuf();
    return text.str();
  }

 private:
  std::string folder_;
};

}  // namespace

TEST_CASE(
    "all_ablations: names are unique, and every base stands before its ablations and is another") {
  std::set<std::string> seen;
  std::vector<std::string> starts;
  const std::vector<Ablation> ablations = all_ablations();
  for (const Ablation& ablation : ablations) {
    CAPTURE(ablation.name);
    CHECK(seen.insert(ablation.name).second);
    CHECK(ablation.name.size() <= 24);  // what the tables have room for
    CHECK(ablation.base.size() + ablation.change.size() <= 49);
    if (ablation.base.empty()) {
      starts.push_back(ablation.name);
      continue;
    }
    REQUIRE(seen.contains(ablation.base));
    const auto base = std::find_if(ablations.begin(), ablations.end(), [&](const Ablation& other) {
      return other.name == ablation.base;
    });
    CHECK_FALSE(base->setup == ablation.setup);
  }
  CHECK(starts == std::vector<std::string>{"article", "paper"});
}

TEST_CASE("discrepancy: exponents and ratios are fitted by seed, and changes are paired") {
  const std::vector<Summary> all = summaries(made_up());
  REQUIRE(all.size() == 6);
  const double scatter = 0.01 / std::sqrt(3.0);  // standard error of 0, 0.01, 0.02
  for (std::size_t r = 0; r < 3; ++r) {
    const auto ablation = static_cast<double>(r);
    CHECK(std::abs(all[r].exponent.mean - (0.1 * ablation + 0.01)) < 1e-12);
    CHECK(relative_error(all[r].exponent.error, scatter) < 1e-9);
    const double ratio = std::exp(1.0) * std::pow(2.0, ablation);  // at 12 layers, in spite of 24
    CHECK(relative_error(all[r].top_bottom.mean, ratio) < 1e-12);
    CHECK(relative_error(all[r].top_bottom.error, ratio / std::sqrt(3.0)) < 1e-12);
    if (r == 0) {
      CHECK(std::isnan(all[r].exponent_change.mean));
      continue;
    }
    CHECK(std::abs(all[r].exponent_change.mean - 0.1 * ablation) < 1e-12);
    CHECK(all[r].exponent_change.error < 1e-12);  // the seeds' scatter is common to both
    CHECK(relative_error(all[r].top_bottom_factor.mean, std::pow(2.0, ablation)) < 1e-12);
  }
  CHECK(relative_error(all[0].self, 2.1 / 8.0) < 1e-12);
  CHECK(all[0].same_sequence == -1.0 / 8.0);
  CHECK(std::abs(all[0].across_sequences - (1.0 - 1.1 / 8.0)) < 1e-12);
}

TEST_CASE("geometric: exp of the mean of logarithms") {
  CHECK(relative_error(geometric({2.0, 8.0}).mean, 4.0) < 1e-15);
}

TEST_CASE("discrepancy: text fits 80 columns, and every table has a row for every ablation") {
  const lab::Results found = results(made_up());
  std::istringstream lines(lab::to_text(found));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    CAPTURE(line);
    CHECK(line.size() <= 80);
  }
  CHECK(count > 20);
  REQUIRE(found.tables.size() == 6);
  for (std::size_t i = 0; i < 5; ++i) CHECK(found.tables[i].rows.size() == 3);
  CHECK(found.figures[0].series.size() == 2);  // of the main ablations, article and token_labels
  CHECK(found.figures[0].series[1].x == std::vector<double>{6, 12, 24});
  const nlohmann::json tables = nlohmann::json::parse(lab::to_json(found))["tables"];
  CHECK(tables["ablations"].size() == 3);
  CHECK(tables["ablations"][1]["base"] == "article");
  CHECK(tables["ablations"][1]["labels"] == "per_token");
  CHECK(tables["ablations"][1]["seeds"] == std::vector<int>{0, 1, 2});
  CHECK(tables["effects"].size() == 6);
  CHECK(tables["effects"][4]["placement"] == "pre");
  CHECK(std::abs(tables["effects"][1]["exponent_change"].get<double>() - 0.1) < 1e-12);
  CHECK(tables["points"].size() == 3 * 2 * 3 * 3);
}

TEST_CASE("measurement_from: a measurement is read back bit for bit") {
  Measurement m = made_up().points.back().measured;
  m.loss = std::nextafter(0.1, 1.0);
  m.similarity_within[0] = std::numeric_limits<double>::quiet_NaN();
  m.square[0] = std::numeric_limits<double>::infinity();
  const Measurement back = measurement_from(nlohmann::ordered_json::parse(json_of(m).dump()),
                                            static_cast<std::int64_t>(m.w2_grad_norm.size()));
  CHECK(back.loss == m.loss);
  CHECK(back.w2_grad_norm == m.w2_grad_norm);
  CHECK(std::isnan(back.similarity_within[0]));
  CHECK(back.square == m.square);
  CHECK(json_of(back).dump() == json_of(m).dump());
}

TEST_CASE("measurement_from: what is missing, of another type or too short is named") {
  const nlohmann::ordered_json right = json_of(made_up().points.front().measured);
  const auto layers = static_cast<std::int64_t>(right["square"].size());
  const auto refused = [&](const char* key, const nlohmann::ordered_json& value,
                           const char* message) {
    nlohmann::ordered_json json = right;
    json[key] = value;
    CHECK_THROWS_WITH_AS(measurement_from(json, layers), doctest::Contains(message),
                         std::runtime_error);
  };
  for (const auto& [case_key, list] : right.items()) {
    const auto& key = case_key;
    if (key == "loss") continue;
    CAPTURE(key);
    refused(key.c_str(), nlohmann::ordered_json::array(), "numbers, got 0");
    refused(key.c_str(), nullptr, "not a list of numbers: null");
    refused(key.c_str(), nlohmann::ordered_json::object(), "not a list of numbers: {}");
    refused(key.c_str(), {1.0, 2.0}, "numbers, got 2");
    refused(key.c_str(), {1.0, nullptr}, "not a number: null");
  }
  refused("loss", "three", "not a number: \"three\"");
  for (const char* text : {"{}", "[1]", "null", "{\"loss\":3}"}) {
    CHECK_THROWS_WITH_AS(measurement_from(nlohmann::ordered_json::parse(text), 2),
                         doctest::Contains("measurement: there is no"), std::runtime_error);
  }
}

TEST_CASE("discrepancy: networks that the log has are not computed again, and change nothing") {
  const Options options = small_discrepancy();
  const TemporaryName log;
  const std::vector<std::string> lines = lines_of(measure(options, {}));
  CHECK(lines.size() == 3 * 2 * 2 * 2);  // ablations, placements, depths, seeds
  CHECK(lines_of(measure(options, {.resume = log.path()})) == lines);
  const std::string whole = log.text();
  CHECK(std::count(whole.begin(), whole.end(), '\n') == 25);
  CHECK(lines_of(measure(options, {.resume = log.path()})) == lines);
  CHECK(log.text() == whole);
  log.write(whole.substr(0, whole.size() / 2));  // a line that is cut short is dropped
  CHECK(lines_of(measure(options, {.threads = 2, .resume = log.path()})) == lines);
  const std::string again = log.text();
  CHECK(std::count(again.begin(), again.end(), '\n') == 25);
}

TEST_CASE("discrepancy: another setup under the same name is not taken from a log") {
  Options options = small_discrepancy();
  const TemporaryName log;
  measure(options, {.resume = log.path()});
  options.ablations[1].setup.dropout = 0.25;
  CHECK(lines_of(measure(options, {.resume = log.path()})) == lines_of(measure(options, {})));
  const std::string text = log.text();
  CHECK(std::count(text.begin(), text.end(), '\n') == 25 + 8);
}

TEST_CASE("discrepancy: wide ablations have fewer seeds, and their deep networks two parts") {
  Options options;
  options.seeds = {4, 2, 9};
  options.large_seeds = 2;
  Ablation ablation{"r", "", "", Setup{}};
  CHECK(options.seeds_of(ablation) == options.seeds);
  CHECK(options.parts_of(ablation.setup, 24) == 1);
  ablation.setup.width = 512;
  CHECK(options.seeds_of(ablation) == std::vector<std::uint64_t>{4, 2});
  CHECK(options.parts_of(ablation.setup, 24) == 2);
  CHECK(options.parts_of(ablation.setup, 12) == 1);
}

TEST_CASE("discrepancy: options that do not fit together are refused") {
  const auto refused = [](auto change, const char* part) {
    Options options = small_discrepancy();
    change(options);
    CHECK_THROWS_WITH_AS(check(options), doctest::Contains(part), std::invalid_argument);
  };
  refused([](auto& o) { o.layers = {6}; }, "--layers: must be two or more, for an exponent, got 6");
  refused([](auto& o) { o.layers = {6, 6}; }, "--layers: must differ from one another");
  refused([](auto& o) { o.seeds = {1, 4294967297}; }, "--seeds: must differ from one another");
  refused([](auto& o) { o.ablations.push_back(o.ablations[0]); }, "--ablations: must differ");
  refused([](auto& o) { o.large_seeds = 0; }, "--large-seeds: must be at least 1");
}
