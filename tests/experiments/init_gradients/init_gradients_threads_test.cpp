// Under ThreadSanitizer, too.
#include <doctest/doctest.h>

#include "tests/experiments/init_gradients/init_gradients_cases.hpp"

using namespace normlab;
using namespace normlab::init_gradients;

TEST_CASE("init_gradients: text and JSON are the same bytes for every number of threads") {
  const lab::Results serial = results(measure(small_run(), {}));
  for (const int threads : {1, 2, 3}) {
    CAPTURE(threads);
    const lab::Results found = results(measure(small_run(), {.threads = threads}));
    CHECK(lab::to_text(found) == lab::to_text(serial));
    CHECK(lab::to_json(found) == lab::to_json(serial));
  }
}

TEST_CASE(
    "measure_gradients: two networks at the same time equal one after the other, bit for bit") {
  // Wide enough for every path of the matrix product; three slices each.
  const EncoderModel::Config config{.d_model = 32, .nhead = 4, .dim_feedforward = 64};
  const Tokens tokens = tokens_of(load_digits().range(0, 33));
  const std::vector<Configuration> configurations{{2, Placement::post, 0, 1.0},
                                                  {2, Placement::pre, 1, 0.5}};
  std::vector<GradientMeasurement> serial, parallel(configurations.size());
  for (const Configuration& configuration : configurations) {
    run_jobs({{1.0, [&] { serial.push_back(measure_gradients(config, configuration, tokens)); }}},
             1);
  }
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    jobs.push_back(
        {1.0, [&, i] { parallel[i] = measure_gradients(config, configurations[i], tokens); }});
  }
  run_jobs(jobs, 2);
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    CHECK(parallel[i].loss == serial[i].loss);
    CHECK(parallel[i].w1_grad_norm == serial[i].w1_grad_norm);
    CHECK(parallel[i].w2_grad_norm == serial[i].w2_grad_norm);
    CHECK(parallel[i].in_proj_grad_norm == serial[i].in_proj_grad_norm);
    CHECK(parallel[i].out_proj_grad_norm == serial[i].out_proj_grad_norm);
    CHECK(parallel[i].stream_sq_norm_per_d == serial[i].stream_sq_norm_per_d);
  }
}
