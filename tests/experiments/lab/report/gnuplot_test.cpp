#include "experiments/lab/report/gnuplot.hpp"

#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>
#include <unistd.h>

#include "tests/experiments/lab/report/plotter_stand_in.hpp"

using namespace normlab;

TEST_CASE("run_gnuplot: a program that is not on PATH is a problem, not an exception") {
  const PlotterOutput output = run_gnuplot({"normlab-no-such-gnuplot"}, "");
  CHECK(output.text.empty());
  CHECK(output.problem == "gnuplot was not found");
}

TEST_CASE("run_gnuplot: the program is looked for on PATH") {
  const PlotterStandIn stand_in("cat");
  const PathOverride path(stand_in.folder());
  CHECK(run_gnuplot({}, "as it is: `id` $HOME '\n").text == "as it is: `id` $HOME '\n");
  const PathOverride nowhere("/nonexistent");
  CHECK(run_gnuplot({}, "").problem == "gnuplot was not found");
}

TEST_CASE("run_gnuplot: a failing program is quoted") {
  const PlotterStandIn stand_in(
      "echo 'set terminal svg' >&2; echo '  no terminal svg' >&2; echo >&2; exit 3");
  const PlotterOutput output = run_gnuplot({stand_in.program()}, "");
  CHECK(output.text.empty());
  CHECK(output.problem == "gnuplot failed: no terminal svg");
}

TEST_CASE("run_gnuplot: a program that hangs is killed with what it started") {
  const PlotterStandIn stand_in("sleep 600 & echo $! > \"$0.pid\"; wait");
  const auto start = std::chrono::steady_clock::now();
  const PlotterOutput output =
      run_gnuplot({stand_in.program(), std::chrono::milliseconds(1500)}, "");
  CHECK(output.problem == "gnuplot did not end within 1.5 s");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
  std::ifstream file(stand_in.program() + ".pid");
  std::string sleeper, state;
  file >> sleeper;
  REQUIRE_FALSE(sleeper.empty());
  // Killed: gone, or a zombie that nobody has waited for yet ("<pid> (sleep) Z ...").
  for (int attempt = 0; attempt < 200; ++attempt) {
    std::ifstream stat("/proc/" + sleeper + "/stat");
    std::string pid, name;
    if (!(stat >> pid >> name >> state)) state = "gone";
    if (state == "gone" || state == "Z") break;
    usleep(10000);
  }
  const bool ended = state == "gone" || state == "Z";
  CHECK(ended);
}

TEST_CASE("run_gnuplot: numbers have a point in every locale") {
  const PlotterStandIn stand_in("echo \"$LC_ALL\"");
  CHECK(run_gnuplot({stand_in.program()}, "").text == "C.UTF-8\n");
}

TEST_CASE("gnuplot_quoted: quotes are strings of their own, and control characters spaces") {
  CHECK(gnuplot_quoted("it's `id` \"$x\" \\n") == R"('it'."'".'s `id` "$x" \n')");
  CHECK(gnuplot_quoted("a\nb\r\x7f") == "'a b  '");
}
