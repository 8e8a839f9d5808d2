#include "core/check.hpp"

#include <limits>
#include <stdexcept>

#include <doctest/doctest.h>

namespace normlab {
namespace {

TEST_CASE("check: the message names op, argument, what must hold and what came") {
  CHECK_THROWS_WITH_AS(fail("matmul", "b", "must be a matrix", "(3,)"),
                       "[matmul] b: must be a matrix, got (3,)", std::invalid_argument);
  CHECK_THROWS_WITH_AS(fail_misuse("backward", "root", "must hold one value", "shape (2,)"),
                       "[backward] root: must hold one value, got shape (2,)", std::logic_error);
}

TEST_CASE("check: a file error ends in a hint") {
  CHECK_THROWS_WITH_AS(fail_file("load_digits", "digits.csv", "cannot be opened", "give --data"),
                       "[load_digits] digits.csv: cannot be opened. HINT: give --data",
                       std::runtime_error);
}

TEST_CASE("check: passes when it holds, and then builds no text") {
  bool built = false;
  const auto text = [&] {
    built = true;
    return std::string("3");
  };
  CHECK_NOTHROW(check(true, "op", "x", "must be 2", text));
  CHECK_FALSE(built);
  CHECK_THROWS_WITH_AS(check(false, "op", "x", "must be 2", text), "[op] x: must be 2, got 3",
                       std::invalid_argument);
  CHECK(built);
  CHECK_THROWS_WITH_AS(check(false, "op", "x", "must be 2", "three"),
                       "[op] x: must be 2, got three", std::invalid_argument);
}

TEST_CASE("check: a shape error shows both shapes") {
  CHECK_NOTHROW(check_shape("layer_norm", "weight", {64}, {64}));
  CHECK_THROWS_WITH_AS(check_shape("layer_norm", "weight", {32}, {64}),
                       "[layer_norm] weight: must have shape (64,), got (32,)",
                       std::invalid_argument);
}

TEST_CASE("check: a lower bound is inclusive and refuses what is not finite") {
  CHECK_NOTHROW(check_at_least("layer_norm", "eps", 0.0, 0.0));
  CHECK_THROWS_WITH_AS(check_at_least("layer_norm", "eps", -1.0, 0.0),
                       "[layer_norm] eps: must be a finite number of at least 0, got -1",
                       std::invalid_argument);
  CHECK_THROWS_AS(
      check_at_least("layer_norm", "eps", std::numeric_limits<double>::quiet_NaN(), 0.0),
      std::invalid_argument);
  CHECK_THROWS_AS(check_at_least("layer_norm", "eps", std::numeric_limits<double>::infinity(), 0.0),
                  std::invalid_argument);
}

TEST_CASE("check: a probability lies between 0 and 1") {
  CHECK_NOTHROW(check_probability("dropout", "p", 0.0));
  CHECK_NOTHROW(check_probability("dropout", "p", 1.0));
  CHECK_THROWS_WITH_AS(check_probability("dropout", "p", 1.5),
                       "[dropout] p: must be a probability in [0, 1], got 1.5",
                       std::invalid_argument);
  CHECK_THROWS_AS(check_probability("dropout", "p", -0.1), std::invalid_argument);
  CHECK_THROWS_AS(check_probability("dropout", "p", std::numeric_limits<double>::quiet_NaN()),
                  std::invalid_argument);
}

}  // namespace
}  // namespace normlab
