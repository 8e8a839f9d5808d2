#include "nn/init.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <doctest/doctest.h>

#include "core/kernels/map.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

using Scheme = std::function<void(Tensor&, Generator&)>;

Tensor drawn(const Scheme& scheme, const Shape& shape, std::uint64_t seed = 1) {
  Generator generator(seed);
  Tensor tensor = Tensor::zeros(shape);
  scheme(tensor, generator);
  return tensor;
}

double deviation(const Tensor& x) {
  double sum = 0.0;
  for (const double value : x.values()) sum += value * value;
  return std::sqrt(sum / static_cast<double>(x.numel()));
}

}  // namespace

TEST_CASE("fans: inputs are the second axis, outputs the first, times the receptive field") {
  const init::Fans matrix = init::fans({3, 5}), convolution = init::fans({4, 3, 2, 5});
  CHECK(matrix.in == 5);
  CHECK(matrix.out == 3);
  CHECK(convolution.in == 30);
  CHECK(convolution.out == 40);
  check_refused([] { init::fans({3}); }, "[init] tensor: must have at least 2 axes");
  check_refused([] { init::fans({}); }, "[init] tensor: must have at least 2 axes");
}

// 200 x 600 numbers: the standard deviation of their standard deviation is 0.2 % for normal and
// 0.13 % for uniform numbers, so that 1 % is five of them.
TEST_CASE("init: every scheme has the standard deviation that its paper gives") {
  const Shape shape{200, 600};  // fan_in 600, fan_out 200
  const std::vector<std::pair<Scheme, double>> schemes{
      {[](Tensor& t, Generator& g) { init::xavier_uniform(t, g); }, std::sqrt(2.0 / 800)},
      {[](Tensor& t, Generator& g) { init::xavier_normal(t, g); }, std::sqrt(2.0 / 800)},
      {[](Tensor& t, Generator& g) { init::xavier_normal(t, g, 3.0); }, 3 * std::sqrt(2.0 / 800)},
      {[](Tensor& t, Generator& g) { init::kaiming_uniform(t, g); }, std::sqrt(2.0 / 600)},
      {[](Tensor& t, Generator& g) { init::kaiming_normal(t, g); }, std::sqrt(2.0 / 600)},
      {[](Tensor& t, Generator& g) { init::kaiming_normal(t, g, 2.0); },
       std::sqrt(2.0 / 5.0 / 600)},
      {[](Tensor& t, Generator& g) { init::kaiming_normal(t, g, 0.0, init::FanMode::fan_out); },
       std::sqrt(2.0 / 200)},
      {[](Tensor& t, Generator& g) { init::uniform(t, g, -1.0, 1.0); }, 1.0 / std::sqrt(3.0)},
      {[](Tensor& t, Generator& g) { init::normal(t, g, 0.02); }, 0.02},
  };
  for (std::size_t i = 0; i < schemes.size(); ++i) {
    CAPTURE(i);
    const auto& [scheme, expected] = schemes[i];
    CHECK(std::abs(deviation(drawn(scheme, shape)) / expected - 1.0) <= 0.01);
  }
}

TEST_CASE("init: uniform schemes fill their interval and do not leave it") {
  const double bound = std::sqrt(3.0) * std::sqrt(2.0 / 800);
  const Tensor x = drawn([](Tensor& t, Generator& g) { init::xavier_uniform(t, g); }, {200, 600});
  const auto [least, largest] = std::ranges::minmax(x.values());
  CHECK(least >= -bound);
  CHECK(least <= -0.999 * bound);
  CHECK(largest <= bound);
  CHECK(largest >= 0.999 * bound);
}

TEST_CASE("init: normal schemes are PyTorch's randn times the standard deviation") {
  for (const FixtureCase& fixture : load_fixture_cases("random.json", "normal")) {
    CAPTURE(fixture.name);
    const double std = fixture.option<double>("std");
    const Tensor x =
        drawn([std](Tensor& t, Generator& g) { init::normal(t, g, std); },
              {fixture.option<std::int64_t>("size")}, fixture.option<std::uint64_t>("seed"));
    CHECK(relative_error(x, tensor_of(fixture.output("y"))) <= 1e-15);
  }
}

TEST_CASE("init: xavier on packed projections starts them smaller than one by one") {
  // d = 64: 2 / (64 + 3 * 64) packed, 2 / (64 + 64) for each alone.
  const std::vector<std::pair<std::int64_t, double>> cases{{3 * 64, 0.08838834764831845},
                                                           {64, 0.125}};
  for (const auto& [case_rows, std] : cases) {
    const auto& rows = case_rows;
    CAPTURE(rows);
    const Tensor x = drawn([](Tensor& t, Generator& g) { init::xavier_normal(t, g); }, {rows, 64});
    const double factor = std;
    const Tensor expected =
        map(Generator(1).randn({rows, 64}), [factor](double z) { return factor * z; });
    CHECK(relative_error(x, expected) <= 1e-15);
  }
}

TEST_CASE("init: constants overwrite whatever was there") {
  Tensor x = random({2, 3});
  init::constant(x, 2.5);
  CHECK(relative_error(x, Tensor::full({2, 3}, 2.5)) == 0.0);
  init::zeros(x);
  CHECK(relative_error(x, Tensor::zeros({2, 3})) == 0.0);
  init::ones(x);
  CHECK(relative_error(x, Tensor::ones({2, 3})) == 0.0);
}

TEST_CASE("init: a tensor that shares its buffer changes alone") {
  const Tensor original = Tensor::zeros({4, 5});
  Tensor copy = original;
  Generator generator(1);
  init::xavier_uniform(copy, generator);
  CHECK(relative_error(original, Tensor::zeros({4, 5})) == 0.0);
  CHECK(norm(copy) > 0.0);
}
