#include "nn/layers/positional_encoding.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "tests/support/op_checks.hpp"

using namespace normlab;

TEST_CASE("sinusoidal_positions: sines and cosines alternate, each pair slower than the last") {
  // Width 4: the speeds are 1 and 10000^(-2/4) = 1/100.
  const Tensor expected({3, 4}, {0.0, 1.0, 0.0, 1.0,                                            //
                                 std::sin(1.0), std::cos(1.0), std::sin(0.01), std::cos(0.01),  //
                                 std::sin(2.0), std::cos(2.0), std::sin(0.02), std::cos(0.02)});
  CHECK(relative_error(sinusoidal_positions(3, 4), expected) <= 1e-15);
  // Width 2 has one speed, 1, however far it goes.
  const Tensor clock = sinusoidal_positions(101, 2);
  CHECK(std::abs(clock.at({100, 0}) - std::sin(100.0)) <= 1e-15);
  CHECK(std::abs(clock.at({100, 1}) - std::cos(100.0)) <= 1e-15);
}

TEST_CASE("sinusoidal_positions: a step of k positions is the same rotation from anywhere") {
  const std::int64_t width = 6, k = 5;
  const Tensor positions = sinusoidal_positions(40, width);
  for (std::int64_t i = 0; i < width; i += 2) {
    const double turn = 5.0 * std::pow(10000.0, -static_cast<double>(i) / 6.0);
    for (std::int64_t start = 0; start + k < 40; ++start) {
      const double sine = positions.at({start, i}), cosine = positions.at({start, i + 1});
      CHECK(std::abs(positions.at({start + k, i}) -
                     (sine * std::cos(turn) + cosine * std::sin(turn))) <= 1e-14);
      CHECK(std::abs(positions.at({start + k, i + 1}) -
                     (cosine * std::cos(turn) - sine * std::sin(turn))) <= 1e-14);
    }
  }
}

TEST_CASE("sinusoidal_positions: an odd width ends in a sine") {
  const Tensor odd = sinusoidal_positions(4, 3);
  for (std::int64_t row = 0; row < 4; ++row) {
    const auto position = static_cast<double>(row);
    CHECK(std::abs(odd.at({row, 1}) - std::cos(position)) <= 1e-15);
    CHECK(std::abs(odd.at({row, 2}) - std::sin(position * std::pow(10000.0, -2.0 / 3.0))) <= 1e-15);
  }
}

TEST_CASE("sinusoidal_positions: no positions are an empty table, sizes that are none refused") {
  CHECK(sinusoidal_positions(0, 4).shape().str() == "(0, 4)");
  check_refused([] { sinusoidal_positions(-1, 4); },
                "[sinusoidal_positions] length: must not be negative, got -1");
  check_refused([] { sinusoidal_positions(3, 0); },
                "[sinusoidal_positions] width: must be at least 1, got 0");
}
