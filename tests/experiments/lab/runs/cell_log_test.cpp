#include "experiments/lab/runs/cell_log.hpp"

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include <doctest/doctest.h>

#include "experiments/lab/results/json_number.hpp"
#include "experiments/untrained/gradient_json.hpp"

using namespace normlab;
using Json = CellLog::Json;

namespace {

const Json kHeader = {{"experiment", "test"}, {"width", 8}};
const Json kCell = {{"norm", "layernorm"}, {"seed", 3}};

// A file name that nothing has; removed at the end.
struct LogFile {
  std::string path = (std::filesystem::temp_directory_path() /
                      ("normlab_cell_log_" + std::to_string(getpid()) + ".jsonl"))
                         .string();
  LogFile() { std::filesystem::remove(path); }
  ~LogFile() { std::filesystem::remove(path); }

  std::string text() const {
    std::ostringstream all;
    all << std::ifstream(path).rdbuf();
    return all.str();
  }
  void write(const std::string& text) const { std::ofstream(path) << text; }
};

}  // namespace

TEST_CASE("CellLog: what was appended is there when the file is opened again") {
  const LogFile file;
  {
    CellLog log(file.path, kHeader);
    CHECK(log.find(kCell) == nullptr);
    log.append(kCell, {{"loss", 0.1}});
    REQUIRE(log.find(kCell) != nullptr);
  }
  const CellLog again(file.path, kHeader);
  REQUIRE(again.find(kCell) != nullptr);
  CHECK(*again.find(kCell) == Json{{"loss", 0.1}});
  CHECK(again.find(Json{{"norm", "layernorm"}, {"seed", 4}}) == nullptr);
}

TEST_CASE("CellLog: a line cut short by a kill is dropped, and the next one is whole") {
  const LogFile file;
  { CellLog(file.path, kHeader).append(kCell, 1.0); }
  const std::string whole = file.text();
  for (const std::size_t kept : {whole.size() - 1, whole.size() - 5}) {
    file.write(whole.substr(0, kept));
    CellLog log(file.path, kHeader);
    CHECK(log.find(kCell) == nullptr);
    log.append(kCell, 2.0);
    const CellLog again(file.path, kHeader);
    REQUIRE(again.find(kCell) != nullptr);
    CHECK(*again.find(kCell) == Json(2.0));
  }
}

TEST_CASE("CellLog: an empty file is started, as a missing one") {
  const LogFile file;
  file.write("");
  CellLog log(file.path, kHeader);
  CHECK(file.text() == kHeader.dump() + "\n");
}

TEST_CASE("CellLog: another header, another file or a broken line is refused and left alone") {
  const LogFile file;
  const auto refused = [&](const std::string& text, const char* part) {
    file.write(text);
    std::string message;
    try {
      CellLog log(file.path, kHeader);
    } catch (const std::runtime_error& error) {
      message = error.what();
    }
    CHECK_MESSAGE(message.find(part) != std::string::npos, message);
    CHECK(file.text() == text);
  };
  refused("{\"experiment\":\"test\",\"width\":9}\n",
          "other options or of another version: width is 9 in place of 8");
  refused("a,b\n1,2\n", "line 1 is not an object in JSON");
  refused("no line end", "it has no line");
  refused(kHeader.dump() + "\n{\"cell\":1}\n", "has no cell in line 2");
  refused(kHeader.dump() + "\n{\"cell\":1,\n", "line 2 is not an object in JSON");
}

TEST_CASE("CellLog: a folder that is not there is refused") {
  CHECK_THROWS_AS(CellLog("/nonexistent/cells.jsonl", kHeader), std::runtime_error);
}

TEST_CASE("GradientMeasurement: JSON gives every bit back, infinity and NaN included") {
  GradientMeasurement m;
  m.loss = 0.1 + 0.2;
  m.w1_grad_norm = {1.0 / 3.0, std::numeric_limits<double>::infinity()};
  m.w2_grad_norm = {5e-324, -std::numeric_limits<double>::infinity()};
  m.in_proj_grad_norm = {std::numeric_limits<double>::quiet_NaN(), 1.0};
  m.out_proj_grad_norm = {0.0, 2.0};
  m.stream_sq_norm_per_d = {1e308, 7.0, 8.0};  // and the final norm's
  const GradientMeasurement back = measurement_from(Json::parse(json_of(m).dump()), 2);
  CHECK(back.loss == m.loss);
  CHECK(back.w1_grad_norm == m.w1_grad_norm);
  CHECK(back.w2_grad_norm == m.w2_grad_norm);
  CHECK(std::isnan(back.in_proj_grad_norm.at(0)));
  CHECK(back.out_proj_grad_norm == m.out_proj_grad_norm);
  CHECK(back.stream_sq_norm_per_d == m.stream_sq_norm_per_d);
}

TEST_CASE("measurement_from: what is missing, no number, or of another depth is named") {
  GradientMeasurement one;
  for (auto* list : {&one.w1_grad_norm, &one.w2_grad_norm, &one.in_proj_grad_norm,
                     &one.out_proj_grad_norm, &one.stream_sq_norm_per_d}) {
    *list = {1.0};
  }
  const auto refused = [](const Json& json, std::int64_t layers, const char* message) {
    CHECK_THROWS_WITH_AS(measurement_from(json, layers), message, std::runtime_error);
  };
  Json json = json_of(one);
  CHECK(measurement_from(json, 1).w2_grad_norm == one.w2_grad_norm);
  refused(json, 2, "measurement: not one number per layer: w1_grad_norm");
  json["w2_grad_norm"] = Json::array();
  refused(json, 1, "measurement: not one number per layer: w2_grad_norm");
  json["w1_grad_norm"] = "many";
  refused(json, 1, "measurement: not a list: w1_grad_norm");
  json.erase("w1_grad_norm");
  refused(json, 1, "measurement: there is no w1_grad_norm");
  CHECK_THROWS_WITH_AS(number_from("ten"), "not a number: \"ten\"", std::runtime_error);
}
