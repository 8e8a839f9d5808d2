#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include <doctest/doctest.h>

#include "core/ops/arithmetic.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/shape_ops.hpp"
#include "core/tape.hpp"

namespace normlab {
namespace {

constexpr const char* kOutlived =
    "[Var] tape: must still hold this Var, got a Var that outlived its tape's clear() or "
    "destruction";

TEST_CASE("tape misuse: backward of several values without a seed") {
  Tape tape;
  const Var x = tape.variable(Tensor::ones({2}));
  CHECK_THROWS_WITH_AS(
      tape.backward(square(x)),
      "[backward] root: must hold one value, or come with a seed of its shape, got shape (2,)",
      std::logic_error);
  CHECK_THROWS_AS(tape.backward(slice(x, 0, 0, 0)), std::logic_error);
}

TEST_CASE("tape misuse: a seed of another shape, or none") {
  Tape tape;
  const Var x = tape.variable(Tensor::ones({2, 3}));
  CHECK_THROWS_WITH_AS(tape.backward(x, Tensor::ones({3, 2})),
                       "[backward] seed: must have shape (2, 3), got (3, 2)",
                       std::invalid_argument);
  const Var scalar = tape.variable(Tensor::scalar(1));
  CHECK_THROWS_WITH_AS(tape.backward(scalar, Tensor()),
                       "[backward] seed: must be a tensor, got none", std::invalid_argument);
  CHECK_FALSE(scalar.grad().defined());
}

TEST_CASE("tape misuse: backward of a constant") {
  Tape tape;
  CHECK_THROWS_WITH_AS(tape.backward(square(tape.constant(Tensor::scalar(2)))),
                       "[backward] root: must depend on a parameter or variable, got a constant",
                       std::logic_error);
}

TEST_CASE("tape misuse: an op on Vars of two tapes") {
  Tape one, two;
  const Var x = one.variable(Tensor::scalar(1)), y = two.variable(Tensor::scalar(2));
  CHECK_THROWS_WITH_AS(x * y, "[mul] inputs: must all be on one tape, got Vars of two tapes",
                       std::logic_error);
  CHECK_THROWS_AS(x + two.constant(Tensor::scalar(2)), std::logic_error);
  CHECK(one.size() == 1);
  CHECK(two.size() == 1);
}

TEST_CASE("tape misuse: a Var of another tape as root, input or target") {
  Tape one, two;
  const Var x = one.variable(Tensor::scalar(1)), y = two.variable(Tensor::scalar(2));
  CHECK_THROWS_WITH_AS(one.backward(y),
                       "[backward] root: must be on this tape, got a Var of another tape",
                       std::logic_error);
  CHECK_THROWS_WITH_AS(
      one.vector_jacobian_product(x, Tensor::scalar(1), y),
      "[vector_jacobian_product] x: must be on this tape, got a Var of another tape",
      std::logic_error);
  CHECK_THROWS_WITH_AS(one.record("op", Tensor::scalar(1), {y}, [](const Tensor&) {}),
                       "[op] inputs: must be on the tape that records, got Vars of another tape",
                       std::logic_error);
}

TEST_CASE("tape misuse: an op without inputs, value or backward rule") {
  Tape tape;
  const Var x = tape.variable(Tensor::scalar(1));
  CHECK_THROWS_WITH_AS(record("op", Tensor::scalar(1), {}, [](const Tensor&) {}),
                       "[op] inputs: must be at least one, got none", std::logic_error);
  CHECK_THROWS_WITH_AS(record("op", Tensor(), {x}, [](const Tensor&) {}),
                       "[op] value: must be a tensor, got none", std::invalid_argument);
  CHECK_THROWS_WITH_AS(record("op", Tensor::scalar(1), {x}, nullptr),
                       "[op] backward: must be a function, got none", std::logic_error);
}

TEST_CASE("tape misuse: leaves without a value") {
  Tape tape;
  Parameter empty{"weight", {}};
  CHECK_THROWS_WITH_AS(tape.watch(empty), "[Tape::watch] weight: must have a value, got none",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(tape.variable({}), "[Tape::variable] value: must be a tensor, got none",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(tape.constant({}), "[Tape::constant] value: must be a tensor, got none",
                       std::invalid_argument);
}

TEST_CASE("tape misuse: a Var that outlived its tape's clear") {
  Tape tape;
  const Var x = tape.variable(Tensor::scalar(2)), c = tape.constant(Tensor::scalar(3));
  const Var y = square(x);
  tape.clear();
  const Var fresh = tape.variable(Tensor::scalar(2));  // takes x's old place
  CHECK(y.value().item() == 4);                        // values stay
  CHECK_THROWS_WITH_AS(tape.backward(y), kOutlived, std::logic_error);
  CHECK_THROWS_WITH_AS(x.grad(), kOutlived, std::logic_error);
  CHECK_THROWS_WITH_AS(x.node(), kOutlived, std::logic_error);
  CHECK_THROWS_WITH_AS(x.retain_grad(), kOutlived, std::logic_error);
  CHECK_THROWS_WITH_AS(square(x), kOutlived, std::logic_error);
  CHECK_THROWS_WITH_AS(fresh * x, kOutlived, std::logic_error);
  CHECK_THROWS_WITH_AS(fresh * c, kOutlived, std::logic_error);
  CHECK_THROWS_AS(tape.vector_jacobian_product(fresh, Tensor::scalar(1), x), std::logic_error);
  tape.backward(square(fresh));
  CHECK(fresh.grad().item() == 4);
}

TEST_CASE("tape misuse: a Var that outlived the tape itself") {
  auto tape = std::make_unique<Tape>();
  const Var x = tape->variable(Tensor::scalar(2)), y = square(x);
  tape.reset();
  CHECK(y.value().item() == 4);
  CHECK(y.needs_grad());
  CHECK_THROWS_WITH_AS(y.tape(), kOutlived, std::logic_error);
  CHECK_THROWS_WITH_AS(y.grad(), kOutlived, std::logic_error);
  CHECK_THROWS_WITH_AS(x * y, kOutlived, std::logic_error);
  Tape other;
  CHECK_THROWS_WITH_AS(other.backward(y), kOutlived, std::logic_error);
}

TEST_CASE("tape misuse: the gradient of an intermediate value that was not kept") {
  Tape tape;
  const Var x = tape.variable(Tensor::scalar(2)), y = square(x);
  tape.backward(y);
  CHECK_THROWS_WITH_AS(y.grad(),
                       "[Var::grad] this: must be a leaf, or given to retain_grad() before "
                       "backward, got the result of square",
                       std::logic_error);
}

TEST_CASE("tape misuse: a constant has no place and no gradient") {
  Tape tape;
  const Var c = tape.constant(Tensor::scalar(2));
  CHECK_THROWS_WITH_AS(c.node(), "[Var::node] this: must be recorded, got a constant",
                       std::logic_error);
  CHECK_THROWS_AS(c.grad(), std::logic_error);
  CHECK_THROWS_AS(c.retain_grad(), std::logic_error);
}

TEST_CASE("tape misuse: a backward rule that makes a gradient of the wrong shape") {
  Tape tape;
  const Var x = tape.variable(Tensor::ones({2}));
  const Adjoint dx(x);
  Tensor wrong = Tensor::ones({3});
  const Var y = record("op", Tensor::scalar(1), {x}, [&](const Tensor&) { dx += wrong; });
  CHECK_THROWS_WITH_AS(tape.backward(y),
                       "[backward] gradient of variable: must have shape (2,), got (3,)",
                       std::invalid_argument);
  wrong = Tensor();
  CHECK_THROWS_WITH_AS(tape.backward(y),
                       "[backward] gradient of variable: must have shape (2,), got no tensor",
                       std::invalid_argument);
}

TEST_CASE("tape misuse: an Adjoint that outlived its tape, or is added to outside a pass") {
  auto tape = std::make_unique<Tape>();
  const Var x = tape->variable(Tensor::scalar(2));
  const Adjoint dx(x);
  CHECK_THROWS_WITH_AS(dx += Tensor::scalar(1),
                       "[Adjoint] this: must only be added to in a reverse pass of its tape, got "
                       "no pass under way",
                       std::logic_error);
  tape->backward(square(x));
  CHECK(x.grad().item() == 4);  // the refused contribution left nothing behind
  const char* gone =
      "[Adjoint] this: must only be added to in a reverse pass of its tape, got a tape that was "
      "cleared or destroyed";
  tape->clear();
  CHECK_THROWS_WITH_AS(dx += Tensor::scalar(1), gone, std::logic_error);
  tape.reset();
  CHECK_THROWS_WITH_AS(dx += Tensor::scalar(1), gone, std::logic_error);
}

TEST_CASE("tape misuse: a Var that was moved from") {
  Tape tape;
  Var x = tape.variable(Tensor::ones({2, 3}));
  const Var y = std::move(x);
  const char* text = "[Var] this: must hold a value, got a Var that was moved from";
  CHECK_THROWS_WITH_AS(x.value(), text, std::logic_error);
  CHECK_THROWS_WITH_AS(x.shape(), text, std::logic_error);
  CHECK_THROWS_WITH_AS(square(x), text, std::logic_error);
  CHECK_THROWS_WITH_AS(x + y, text, std::logic_error);
  CHECK_THROWS_WITH_AS(y * x, text, std::logic_error);
  CHECK_THROWS_WITH_AS(reshape(x, {6}), text, std::logic_error);
  CHECK_THROWS_AS(tape.backward(x), std::logic_error);
  CHECK(tape.size() == 1);
}

TEST_CASE("tape misuse: NoGrad guards that end in another order than they began") {
  Tape tape;
  const Var x = tape.variable(Tensor::scalar(2));
  auto first = std::make_optional<Tape::NoGrad>(tape);
  auto second = std::make_optional<Tape::NoGrad>(tape);
  first.reset();
  CHECK_FALSE(square(x).needs_grad());  // the second still lives
  second.reset();
  CHECK(square(x).needs_grad());
}

TEST_CASE("tape misuse: an exception in a backward rule leaves nothing behind") {
  Tape tape;
  Parameter w{"w", Tensor::scalar(3)};
  bool fails = true;
  const Var x = tape.variable(Tensor::scalar(2));
  const Adjoint dx(x);
  const Var middle = record("op", Tensor::scalar(2), {x}, [&](const Tensor& dy) {
    dx += dy;
    if (fails) throw std::runtime_error("a rule failed");
  });
  const Var root = middle * tape.watch(w) + x;  // w and x have their gradients when the rule throws
  CHECK_THROWS_WITH_AS(tape.backward(root), "a rule failed", std::runtime_error);
  CHECK_FALSE(w.grad.defined());
  CHECK_FALSE(x.grad().defined());
  CHECK_THROWS_AS(tape.vector_jacobian_product(root, Tensor::scalar(1), x), std::runtime_error);
  fails = false;
  CHECK(tape.vector_jacobian_product(root, Tensor::scalar(1), x).item() == 4);
  tape.backward(root);
  CHECK(w.grad.item() == 2);
  CHECK(x.grad().item() == 4);
}

TEST_CASE("tape misuse: a backward rule that changes its tape is refused") {
  Tape tape;
  const Var x = tape.variable(Tensor::scalar(2));
  std::function<void()> misuse;
  const Adjoint dx(x);
  const Var y = record("op", Tensor::scalar(2), {x}, [&](const Tensor& dy) {
    misuse();
    dx += dy;
  });
  const char* text = "must not be changed by a backward closure, got a reverse pass under way";
  misuse = [&] { square(x); };
  CHECK_THROWS_WITH_AS(tape.backward(y), doctest::Contains(text), std::logic_error);
  misuse = [&] { tape.clear(); };
  CHECK_THROWS_WITH_AS(tape.backward(y), doctest::Contains(text), std::logic_error);
  misuse = [&] { tape.backward(x); };
  CHECK_THROWS_WITH_AS(tape.backward(y), doctest::Contains(text), std::logic_error);
  misuse = [] {};
  tape.backward(y);
  CHECK(x.grad().item() == 1);
}

}  // namespace
}  // namespace normlab
