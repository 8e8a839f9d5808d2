#include "core/ops/broadcast.hpp"

#include <doctest/doctest.h>

#include "core/ops/arithmetic.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

Function to_shape(const Shape& shape) {
  return [shape](const Vars& in) { return broadcast_to(in[0], shape); };
}

}  // namespace

TEST_CASE("broadcast_shapes: NumPy's rules") {
  const auto joined = [](const Shape& a, const Shape& b) {
    return broadcast_shapes("op", a, b).str();
  };
  CHECK(joined({}, {}) == "()");
  CHECK(joined({}, {2, 3}) == "(2, 3)");
  CHECK(joined({2, 3}, {3}) == "(2, 3)");
  CHECK(joined({2, 1, 4}, {3, 1}) == "(2, 3, 4)");
  CHECK(joined({1}, {0}) == "(0,)");
  CHECK(joined({0, 5, 8}, {8}) == "(0, 5, 8)");
  check_refused([] { broadcast_shapes("op", {2, 3}, {2}); }, "[op] shapes: must broadcast");
  check_refused([] { broadcast_shapes("op", {0}, {5}); }, "[op] shapes: must broadcast");
}

TEST_CASE("broadcast_to: repeats along missing axes and axes of extent 1") {
  const Evaluation y = evaluate(to_shape({2, 3, 2}), {Tensor({3, 1}, {1, 2, 3})});
  CHECK(relative_error(y.value, Tensor({2, 3, 2}, {1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3})) == 0.0);
}

TEST_CASE("broadcast_to: gradients agree with differences") {
  const std::vector<std::pair<Shape, Shape>> cases{
      {{}, {}},         {{}, {3}},           {{}, {2, 3}},           {{3}, {2, 3}},
      {{2, 1}, {2, 3}}, {{3, 1}, {2, 3, 4}}, {{2, 1, 4}, {2, 3, 4}}, {{1, 3, 1}, {2, 3, 4}},
      {{2, 3}, {2, 3}}};
  for (const auto& [case_from, case_to] : cases) {
    const auto& from = case_from;
    const auto& to = case_to;
    CAPTURE(from.str());
    CAPTURE(to.str());
    check_backward(to_shape(to), {random(from)});
  }
}

TEST_CASE("broadcast_to: equals adding to zeros") {
  check_same(
      to_shape({2, 3, 4}),
      [](const Vars& in) {
        return in[0] + in[0].tape().constant(Tensor::zeros({2, 3, 4}));
      },
      {random({3, 1})}, 0.0);
}

TEST_CASE("sum_to: sums over the axes that were repeated") {
  const Tensor x({2, 3}, {1, 2, 3, 10, 20, 30});
  CHECK(relative_error(sum_to(x, {3}), Tensor({3}, {11, 22, 33})) == 0.0);
  CHECK(relative_error(sum_to(x, {2, 1}), Tensor({2, 1}, {6, 60})) == 0.0);
  CHECK(relative_error(sum_to(x, {}), Tensor::scalar(66)) == 0.0);
  CHECK(relative_error(sum_to(x, {2, 3}), x) == 0.0);
  CHECK(relative_error(sum_to(Tensor::zeros({0, 3}), {3}), Tensor::zeros({3})) == 0.0);
}

TEST_CASE("sum_to: rows taken four at a time give what taking them one by one gives") {
  for (std::int64_t rows = 0; rows <= 13; ++rows) {
    CAPTURE(rows);
    const Tensor x = random({rows, 5}, 1);
    Tensor expected = Tensor::zeros({5});
    for (std::int64_t i = 0; i < x.numel(); ++i) expected.mutable_data()[i % 5] += x.data()[i];
    CHECK(relative_error(sum_to(x, {5}), expected) < 1e-15);
  }
}

TEST_CASE("broadcast_to: a shape that x does not broadcast to is refused") {
  Tape tape;
  const Var x = tape.variable(Tensor::zeros({2, 3}));
  check_refused([&] { broadcast_to(x, {2, 4}); }, "[broadcast_to] shapes: must broadcast");
  check_refused([&] { broadcast_to(x, {3}); },
                "[broadcast_to] shape: must be one that (2, 3) broadcasts to, got (3,)");
  check_refused([&] { broadcast_to(x, {1, 3}); }, "[broadcast_to] shape: must be one that");
}

TEST_CASE("broadcast_to: repeats to no elements and sums their gradient to 0") {
  check_empty(to_shape({0, 5, 8}), {Tensor::ones({8})}, {0, 5, 8});
  check_empty(to_shape({0, 5, 8}), {Tensor::ones({0, 1, 8})}, {0, 5, 8});
}
