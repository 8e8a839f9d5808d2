// Under ThreadSanitizer, too.
#include <doctest/doctest.h>

#include "tests/experiments/init_gradients/init_gradients_cases.hpp"

using namespace normlab;

TEST_CASE("init_gradients: text and JSON are the same bytes for every number of threads") {
  const Digits digits = load_digits();
  const InitGradientsResult serial = run_init_gradients(small_run(), digits, 1);
  const std::string text = text_of(serial), json = json_of(serial);
  for (const int threads : {1, 2, 3}) {
    CAPTURE(threads);
    const InitGradientsResult result = run_init_gradients(small_run(), digits, threads);
    CHECK(text_of(result) == text);
    CHECK(json_of(result) == json);
  }
}

TEST_CASE("measure_gradients: two cells at the same time equal one after the other, bit for bit") {
  // Wide enough for every path of the matrix product; three slices each.
  const EncoderModel::Config config{.d_model = 32, .nhead = 4, .dim_feedforward = 64};
  const Tokens tokens = tokens_of(load_digits().range(0, 33));
  const std::vector<GradientCell> cells{{2, Placement::post, 0, 1.0}, {2, Placement::pre, 1, 0.5}};
  std::vector<GradientMeasurement> serial, parallel(cells.size());
  for (const GradientCell& cell : cells) {
    run_jobs({{1.0, [&] { serial.push_back(measure_gradients(config, cell, tokens)); }}}, 1);
  }
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    jobs.push_back({1.0, [&, i] { parallel[i] = measure_gradients(config, cells[i], tokens); }});
  }
  run_jobs(jobs, 2);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    CHECK(parallel[i].loss == serial[i].loss);
    CHECK(parallel[i].w1_grad_norm == serial[i].w1_grad_norm);
    CHECK(parallel[i].w2_grad_norm == serial[i].w2_grad_norm);
    CHECK(parallel[i].in_proj_grad_norm == serial[i].in_proj_grad_norm);
    CHECK(parallel[i].out_proj_grad_norm == serial[i].out_proj_grad_norm);
    CHECK(parallel[i].stream_sq_norm_per_d == serial[i].stream_sq_norm_per_d);
  }
}
