#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <doctest/doctest.h>
#include <unistd.h>

#include "experiments/lab/runs/grid.hpp"

using namespace normlab;
using namespace normlab::lab;

namespace {

using Json = nlohmann::ordered_json;

struct Point {
  int x;
  double square = 0.0;
};

class LogFile {
 public:
  LogFile() { std::filesystem::remove(path); }
  ~LogFile() { std::filesystem::remove(path); }
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  std::vector<std::string> lines() const {
    std::vector<std::string> all;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) all.push_back(line);
    return all;
  }

  const std::string path = (std::filesystem::temp_directory_path() /
                            ("normlab_grid_" + std::to_string(getpid()) + ".jsonl"))
                               .string();
};

// Squares x, and counts how often.
struct Squares {
  std::atomic<int> measured = 0;

  GridSteps<Point> steps() {
    return {.cost = [](const Point& point) { return static_cast<double>(point.x); },
            .measure =
                [this](Point& point) {
                  point.square = static_cast<double>(point.x) * point.x;
                  ++measured;
                },
            .header = {{"experiment", "squares"}},
            .key =
                [](const Point& point) {
                  return Json{{"x", point.x}};
                },
            .write = [](const Point& point) { return Json(point.square); },
            .read =
                [](const Json& json, Point& point) {
                  if (!json.is_number()) throw std::runtime_error("not a number");
                  point.square = json.get<double>();
                }};
  }
};

std::vector<Point> points_to(int last) {
  std::vector<Point> points;
  for (int x = 1; x <= last; ++x) points.push_back({x});
  return points;
}

bool all_squared(const std::vector<Point>& points) {
  for (const Point& point : points) {
    if (point.square != static_cast<double>(point.x) * point.x) return false;
  }
  return !points.empty();
}

}  // namespace

TEST_CASE("run_grid: every point is measured once, on one thread and on four alike") {
  for (int threads : {1, 4}) {
    CAPTURE(threads);
    Squares squares;
    std::vector<Point> points = points_to(40);
    run_grid(points, {.threads = threads}, squares.steps());
    CHECK(squares.measured == 40);
    CHECK(all_squared(points));
  }
}

TEST_CASE("run_grid: the log of four threads has the lines of the log of one") {
  const auto log_of = [](int threads) {
    const LogFile log;
    Squares squares;
    std::vector<Point> points = points_to(40);
    run_grid(points, {.threads = threads, .resume = log.path}, squares.steps());
    std::vector<std::string> lines = log.lines();
    REQUIRE(lines.size() == 41);
    CHECK(lines.front().starts_with(R"({"experiment":"squares",)"));
    return std::multiset<std::string>(lines.begin(), lines.end());  // the order is of completion
  };
  CHECK(log_of(1) == log_of(4));
}

TEST_CASE("run_grid: what the log has is read and not measured again") {
  const LogFile log;
  Squares squares;
  std::vector<Point> first = points_to(3);
  run_grid(first, {.resume = log.path}, squares.steps());
  CHECK(squares.measured == 3);
  std::vector<Point> more = points_to(5);
  std::vector<double> done;
  run_grid(more,
           {.resume = log.path, .progress = [&](double cost, double) { done.push_back(cost); }},
           squares.steps());
  CHECK(squares.measured == 5);
  CHECK(all_squared(more));
  CHECK(done == std::vector<double>{5.0, 9.0});  // the costliest first, and only what is left
  CHECK(log.lines().size() == 6);
}

TEST_CASE("run_grid: without a log nothing is written") {
  const LogFile log;
  Squares squares;
  std::vector<Point> points = points_to(2);
  run_grid(points, {}, squares.steps());
  CHECK_FALSE(std::filesystem::exists(log.path));
}

TEST_CASE("run_grid: a measurement that cannot be read names the file") {
  const LogFile log;
  std::ofstream(log.path) << "{\"experiment\":\"squares\"}\n"
                          << "{\"cell\":{\"x\":1},\"measured\":\"many\"}\n";
  Squares squares;
  std::vector<Point> points = points_to(1);
  CHECK_THROWS_WITH_AS(run_grid(points, {.resume = log.path}, squares.steps()),
                       doctest::Contains(log.path.c_str()), std::runtime_error);
  CHECK(squares.measured == 0);
}

TEST_CASE("run_grid: an interrupted grid keeps what was measured, and the next run goes on") {
  const LogFile log;
  for (int threads : {1, 2}) {
    CAPTURE(threads);
    std::filesystem::remove(log.path);
    Squares squares;
    GridSteps<Point> stopping = squares.steps();
    stopping.measure = [&, measure = stopping.measure](Point& point) {
      measure(point);
      if (squares.measured == 3) stop_jobs();
    };
    std::vector<Point> points = points_to(20);
    const Run run{.threads = threads, .resume = log.path};
    CHECK_THROWS_AS(run_grid(points, run, stopping), Interrupted);
    const int kept = squares.measured;
    CHECK(kept >= 3);
    CHECK(kept <= 3 + threads);  // those under way have ended
    CHECK(log.lines().size() == static_cast<std::size_t>(1 + kept));
    points = points_to(20);
    run_grid(points, run, squares.steps());  // Interrupted was told once
    CHECK(squares.measured == 20);
    CHECK(all_squared(points));
  }
}
