#include "core/ops/shape_ops.hpp"

#include <doctest/doctest.h>

#include "core/ops/arithmetic.hpp"
#include "core/ops/matmul.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

using Extents = std::vector<std::int64_t>;

Function to_shape(const Extents& extents) {
  return [extents](const Vars& in) { return reshape(in[0], extents); };
}
Function permuting(const Extents& dims) {
  return [dims](const Vars& in) { return permute(in[0], dims); };
}
Function part(std::int64_t axis, std::int64_t first, std::int64_t last) {
  return [=](const Vars& in) { return slice(in[0], axis, first, last); };
}
Function joined(std::int64_t axis) {
  return [axis](const Vars& in) { return concat(in, axis); };
}
Function stacked(std::int64_t axis) {
  return [axis](const Vars& in) { return stack(in, axis); };
}
Function rows(const Extents& index) {
  return [index](const Vars& in) { return index_select(in[0], index); };
}

Tensor counted(const Shape& shape) { return Tensor::arange(shape.numel()).reshaped(shape); }

}  // namespace

TEST_CASE("reshape: keeps the order of elements and works out one extent") {
  const Tensor x = counted({2, 3, 4});
  CHECK(relative_error(evaluate(to_shape({4, -1}), {x}).value, counted({4, 6})) == 0.0);
  CHECK(relative_error(evaluate(to_shape({-1}), {x}).value, counted({24})) == 0.0);
  CHECK(evaluate(to_shape({}), {Tensor({1, 1}, {3})}).value.shape().str() == "()");
  check_backward(to_shape({6, 4}), {random({2, 3, 4})});
  check_backward(to_shape({1, 1}), {random({})});
  check_backward(to_shape({3, -1, 2}), {random({2, 3, 4})});
}

TEST_CASE("permute: axis i of the result is axis dims[i] of x") {
  const Tensor x = counted({2, 3, 4}), y = evaluate(permuting({2, 0, 1}), {x}).value;
  REQUIRE(y.shape().str() == "(4, 2, 3)");
  for (std::int64_t i = 0; i < 2; ++i) {
    for (std::int64_t j = 0; j < 3; ++j) {
      for (std::int64_t k = 0; k < 4; ++k) CHECK(y.at({k, i, j}) == x.at({i, j, k}));
    }
  }
  for (const Extents& dims :
       {Extents{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}, {-1, 0, -2}}) {
    check_backward(permuting(dims), {random({2, 3, 4})});
  }
  check_backward(permuting({3, 1, 0, 2}), {random({2, 3, 4, 5})});
  check_backward(permuting({0}), {random({3})});
  check_backward(permuting({}), {random({})});
}

TEST_CASE("permute: of a matrix equals multiplying its transpose with the identity") {
  Tensor identity = Tensor::zeros({3, 3});
  for (std::int64_t i = 0; i < 3; ++i) identity.mutable_data()[4 * i] = 1.0;
  check_same(
      permuting({1, 0}),
      [&](const Vars& in) {
        return matmul(in[0], in[0].tape().constant(identity), Transpose::yes);
      },
      {random({3, 5})}, 0.0);
}

TEST_CASE("slice: the elements of a range and gradients elsewhere zero") {
  const Evaluation y = evaluate(part(1, 1, 3), {counted({2, 4})}, Tensor({2, 2}, {1, 2, 3, 4}));
  CHECK(relative_error(y.value, Tensor({2, 2}, {1, 2, 5, 6})) == 0.0);
  CHECK(relative_error(y.gradients[0], Tensor({2, 4}, {0, 1, 2, 0, 0, 3, 4, 0})) == 0.0);
  check_backward(part(0, 1, 2), {random({2, 3, 4})});
  check_backward(part(1, 0, 2), {random({2, 3, 4})});
  check_backward(part(-1, 1, 4), {random({2, 3, 4})});
  check_backward(part(0, 2, 3), {random({3})});
}

TEST_CASE("concat: joins parts of different extents and its slices give them back") {
  const std::vector<Tensor> parts{random({2, 3, 4}, 1), random({2, 1, 4}, 2), random({2, 5, 4}, 3)};
  check_backward(joined(1), parts);
  check_backward(joined(-2), parts);
  check_backward(joined(0), {random({2}, 1), random({3}, 2)});
  check_backward(joined(-1), {random({2, 3}, 1), random({2, 1}, 2)});
  const Tensor whole = evaluate(joined(1), parts).value;
  CHECK(relative_error(evaluate(part(1, 0, 3), {whole}).value, parts[0]) == 0.0);
  CHECK(relative_error(evaluate(part(1, 3, 4), {whole}).value, parts[1]) == 0.0);
  CHECK(relative_error(evaluate(part(1, 4, 9), {whole}).value, parts[2]) == 0.0);
}

TEST_CASE("stack: a new axis at any place equals concat of reshaped parts") {
  const std::vector<Tensor> parts{random({2, 3}, 1), random({2, 3}, 2)};
  for (std::int64_t axis : {0, 1, 2, -1}) {
    CAPTURE(axis);
    check_backward(stacked(axis), parts);
  }
  check_backward(stacked(0), {random({}, 1), random({}, 2), random({}, 3)});
  CHECK(evaluate(stacked(-1), parts).value.shape().str() == "(2, 3, 2)");
  check_same(
      stacked(1),
      [](const Vars& in) {
        return concat({reshape(in[0], {2, 1, 3}), reshape(in[1], {2, 1, 3})}, 1);
      },
      parts, 0.0);
}

TEST_CASE("shape_ops: one Var given twice gets both contributions") {
  const Tensor x = Tensor::zeros({2}), dy({4}, {1, 2, 10, 20});
  CHECK(relative_error(evaluate(
                           [](const Vars& in) {
                             return concat({in[0], in[0]}, 0);
                           },
                           {x}, dy)
                           .gradients[0],
                       Tensor({2}, {11, 22})) == 0.0);
  CHECK(relative_error(evaluate(
                           [](const Vars& in) {
                             return stack({in[0], in[0]}, 0);
                           },
                           {x}, dy.reshaped({2, 2}))
                           .gradients[0],
                       Tensor({2}, {11, 22})) == 0.0);
}

TEST_CASE("index_select: values and gradients of an embedding equal PyTorch's") {
  for (const FixtureCase& fixture : load_fixture_cases("ops.json", "embedding")) {
    const FixtureTensor& ids = fixture.input("index");
    const Extents index(ids.data.begin(), ids.data.end());
    Extents shape = ids.shape;
    shape.push_back(fixture.input("weight").shape[1]);
    check_fixture(fixture,
                  [&](const Vars& in) { return reshape(index_select(in[0], index), shape); });
  }
}

TEST_CASE("index_select: a row read several times gets the sum and an unread row gets zero") {
  const Evaluation y =
      evaluate(rows({2, 0, 2}), {counted({3, 2})}, Tensor({3, 2}, {1, 2, 3, 4, 10, 20}));
  CHECK(relative_error(y.value, Tensor({3, 2}, {4, 5, 0, 1, 4, 5})) == 0.0);
  CHECK(relative_error(y.gradients[0], Tensor({3, 2}, {3, 4, 0, 0, 11, 22})) == 0.0);
  check_backward(rows({2, 0, 2, 1}), {random({4, 3})});
  check_backward(rows({1, 1}), {random({3})});
  check_backward(rows({1}), {random({2, 3, 4})});
}

TEST_CASE("index_select: equals concat of slices") {
  check_same(
      rows({2, 0, 2}),
      [](const Vars& in) {
        return concat({slice(in[0], 0, 2, 3), slice(in[0], 0, 0, 1), slice(in[0], 0, 2, 3)}, 0);
      },
      {random({3, 5})}, 1e-15);
}

TEST_CASE("shape_ops: arguments that do not fit are refused") {
  Tape tape;
  const Var x = tape.variable(Tensor::zeros({2, 3})), y = tape.variable(Tensor::zeros({2, 4}));
  check_refused([&] { reshape(x, {4}); }, "[reshape] ");
  check_refused(
      [&] {
        reshape(x, {4, -1});
      },
      "[reshape] extents: must leave a whole number for -1 from (2, 3), got (4, -1)");
  check_refused([&] { permute(x, {0}); }, "[permute] dims: must name each axis of (2, 3) once");
  check_refused([&] { permute(x, {0, 0}); }, "[permute] dims: must name each axis of (2, 3) once");
  check_refused([&] { permute(x, {0, 1, 0}); }, "[permute] dims: must name each axis");
  check_refused([&] { permute(x, {0, 2}); }, "[permute] axis: ");
  check_refused([&] { slice(x, 1, 2, 4); },
                "[slice] range: must lie inside axis 1 of (2, 3), got [2, 4)");
  check_refused([&] { slice(x, 1, 2, 1); }, "[slice] range: ");
  check_refused([&] { slice(x, 1, -1, 1); }, "[slice] range: ");
  check_refused([&] { slice(x, 2, 0, 1); }, "[slice] axis: ");
  check_refused([&] { concat({x, y}, 0); }, "[concat] parts: must agree in every axis but");
  check_refused([&] { concat({}, 0); }, "[concat] parts: must be at least one");
  check_refused([&] { concat({x}, 2); }, "[concat] axis: ");
  check_refused([&] { stack({x, y}, 0); }, "[stack] parts: must have shape (2, 3), got (2, 4)");
  check_refused([&] { stack({}, 0); }, "[stack] parts: must be at least one");
  const Extents outside{0, 2};
  check_refused([&] { index_select(x, outside); },
                "[index_select] indices: must lie in [0, 2), got 2 at position 1");
  check_refused([&] { index_select(tape.variable(Tensor::scalar(1)), outside); },
                "[index_select] table: must have rows");
}

TEST_CASE("shape_ops: inputs without elements give outputs without elements") {
  const Tensor empty = Tensor::zeros({0, 5, 8});
  check_empty(to_shape({5, 0}), {empty}, {5, 0});
  check_empty(to_shape({-1, 8}), {empty}, {0, 8});
  check_empty(permuting({2, 0, 1}), {empty}, {8, 0, 5});
  check_empty(part(1, 1, 3), {empty}, {0, 2, 8});
  check_empty(part(0, 1, 1), {Tensor::ones({2, 3})}, {0, 3});
  check_empty(joined(1), {empty, Tensor::zeros({0, 2, 8})}, {0, 7, 8});
  check_empty(stacked(0), {empty, empty}, {2, 0, 5, 8});
  check_empty(rows({}), {Tensor::ones({4, 3})}, {0, 3});
  check_empty(rows({}), {Tensor::zeros({0, 3})}, {0, 3});
  // A part without elements changes nothing.
  const Evaluation y = evaluate(joined(0), {Tensor::zeros({0, 3}), counted({2, 3})});
  CHECK(relative_error(y.value, counted({2, 3})) == 0.0);
}
