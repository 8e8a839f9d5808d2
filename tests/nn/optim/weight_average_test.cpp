#include "nn/optim/weight_average.hpp"

#include <doctest/doctest.h>

#include "tests/support/module_checks.hpp"

using namespace normlab;

TEST_CASE("WeightAverage: is PyTorch's AveragedModel with an exponential average") {
  for (const FixtureCase& fixture : load_fixture_cases("optimizers.json", "weight_average")) {
    const Tensor rows = tensor_of(fixture.input("w"));
    const auto row = [&](std::int64_t i) {
      return Tensor({3}, rows.values().subspan(static_cast<std::size_t>(3 * i), 3));
    };
    Parameter w{"w", row(0)};
    WeightAverage average({&w}, fixture.option<double>("decay"));
    for (std::int64_t i = 1; i < 6; ++i) {
      w.value = row(i);
      average.update();
    }
    average.swap();
    CHECK(relative_error(w.value, tensor_of(fixture.output("average"))) <= 1e-15);
    average.swap();
    CHECK(max_abs_difference(w.value, row(5)) == 0.0);
  }
}

TEST_CASE("WeightAverage: starts as a copy, is restored, and refuses what does not fit") {
  Parameter w{"w", Tensor({2}, {1, 2})};
  WeightAverage average({&w}, 0.5);
  w.value = Tensor({2}, {3, 6});
  average.update();
  CHECK(max_abs_difference(average.state()[0].second, Tensor({2}, {2, 4})) == 0.0);
  WeightAverage other({&w}, 0.5);
  other.load_state(average.state());
  other.swap();
  CHECK(max_abs_difference(w.value, Tensor({2}, {2, 4})) == 0.0);
  check_refused([&] { other.load_state({}); },
                "[WeightAverage::load_state] state: must hold one tensor");
  check_refused(
      [&] {
        other.load_state({{"v", w.value}});
      },
      "[WeightAverage::load_state] state: must hold w");
  check_refused(
      [&] {
        other.load_state({{"w", Tensor::zeros({3})}});
      },
      "[WeightAverage::load_state] w: must have shape");
  check_refused([&] { WeightAverage({&w}, 1.5); }, "[WeightAverage] decay");
}
