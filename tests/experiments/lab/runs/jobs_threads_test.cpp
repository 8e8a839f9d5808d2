#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include "experiments/lab/runs/jobs.hpp"

using namespace normlab;

TEST_CASE("run_jobs: every job runs once, on any number of threads") {
  for (int threads : {1, 2, 3, 16}) {
    CAPTURE(threads);
    std::vector<int> runs(20, 0);
    std::vector<Job> jobs;
    for (int& count : runs) jobs.push_back({1.0, [&count] { ++count; }});
    run_jobs(jobs, threads);
    CHECK(runs == std::vector<int>(20, 1));
  }
}

TEST_CASE("run_jobs: no jobs are no error, and tell no progress") {
  int calls = 0;
  run_jobs({}, 3, [&](double, double) { ++calls; });
  CHECK(calls == 0);
}

TEST_CASE("run_jobs: the costliest starts first, equals in the order given") {
  std::string order;
  const auto job = [&order](double cost, char name) {
    return Job{cost, [&order, name] { order += name; }};
  };
  run_jobs({job(1, 'a'), job(3, 'b'), job(2, 'c'), job(3, 'd'), job(1, 'e')}, 1);
  CHECK(order == "bdcae");
}

TEST_CASE("run_jobs: two threads work at the same time") {
  // Each job waits until the other has started: one thread alone would never finish.
  std::atomic<int> started = 0;
  const auto meet = [&] {
    ++started;
    while (started < 2) std::this_thread::yield();
  };
  run_jobs({{1.0, meet}, {1.0, meet}}, 2);
  CHECK(started == 2);
}

TEST_CASE("run_jobs: progress grows from job to job up to the total, one call at a time") {
  for (int threads : {1, 4}) {
    CAPTURE(threads);
    std::vector<Job> jobs;
    for (int i = 0; i < 30; ++i) jobs.push_back({1.0 + i % 3, [] {}});
    std::vector<double> seen;  // not guarded: ThreadSanitizer sees calls that overlap
    run_jobs(jobs, threads, [&](double done, double total) {
      CHECK(total == 60.0);
      seen.push_back(done);
    });
    REQUIRE(seen.size() == 30);
    for (std::size_t i = 1; i < seen.size(); ++i) CHECK(seen[i] > seen[i - 1]);
    CHECK(seen.back() == 60.0);
  }
}

TEST_CASE("run_jobs: an exception reaches the caller, and no further job starts") {
  int later = 0, calls = 0;
  const std::vector<Job> jobs{{3.0, [] {}},
                              {2.0, [] { throw std::runtime_error("second"); }},
                              {1.0, [&later] { ++later; }}};
  CHECK_THROWS_WITH_AS(run_jobs(jobs, 1, [&](double, double) { ++calls; }), "second",
                       std::runtime_error);
  CHECK(later == 0);
  CHECK(calls == 1);
}

TEST_CASE("run_jobs: jobs under way end before the exception comes") {
  std::atomic<bool> thrown = false, ended = false;
  const std::vector<Job> jobs{{2.0,
                               [&] {
                                 while (!thrown) std::this_thread::yield();
                                 std::this_thread::sleep_for(std::chrono::milliseconds(20));
                                 ended = true;
                               }},
                              {1.0, [&] {
                                 thrown = true;
                                 throw std::logic_error("one fails");
                               }}};
  CHECK_THROWS_AS(run_jobs(jobs, 2), std::logic_error);
  CHECK(ended);
}

TEST_CASE("run_jobs: when several fail, one of their exceptions comes") {
  std::vector<Job> jobs;
  for (int i = 0; i < 8; ++i) {
    jobs.push_back({1.0, [i] { throw std::runtime_error("job " + std::to_string(i)); }});
  }
  CHECK_THROWS_WITH_AS(run_jobs(jobs, 1), "job 0", std::runtime_error);
  CHECK_THROWS_AS(run_jobs(jobs, 3), std::runtime_error);
}

TEST_CASE("run_jobs: an exception of the progress call reaches the caller") {
  CHECK_THROWS_AS(
      run_jobs({{1.0, [] {}}}, 1, [](double, double) { throw std::runtime_error("shown"); }),
      std::runtime_error);
}

TEST_CASE("run_jobs: fewer than one thread is refused, and nothing runs") {
  int runs = 0;
  const std::vector<Job> jobs{{1.0, [&runs] { ++runs; }}};
  CHECK_THROWS_WITH_AS(run_jobs(jobs, 0), "[run_jobs] threads: must be at least 1, got 0",
                       std::invalid_argument);
  CHECK_THROWS_AS(run_jobs(jobs, -2), std::invalid_argument);
  CHECK(runs == 0);
}

TEST_CASE("run_jobs: after stop_jobs no further job starts, and Interrupted is thrown once") {
  int runs = 0;
  const std::vector<Job> jobs{{2.0,
                               [&] {
                                 ++runs;
                                 stop_jobs();
                               }},
                              {1.0, [&] { ++runs; }}};
  CHECK_THROWS_AS(run_jobs(jobs, 1), Interrupted);
  CHECK(runs == 1);
  run_jobs({{1.0, [&] { ++runs; }}}, 1);
  CHECK(runs == 2);
}

TEST_CASE("run_jobs: stopped in its last job it has done all, and the next run_jobs does none") {
  int runs = 0;
  run_jobs({{1.0, [] { stop_jobs(); }}}, 1);
  CHECK_THROWS_AS(run_jobs({{1.0, [&] { ++runs; }}}, 1), Interrupted);
  CHECK(runs == 0);
}
