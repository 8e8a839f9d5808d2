#include "core/tape.hpp"

#include <stdexcept>

#include <doctest/doctest.h>

#include "core/ops/arithmetic.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/reduce.hpp"

namespace normlab {
namespace {

// The numbers here are small integers and halves: every gradient is exact.

TEST_CASE("tape: an intermediate value used twice passes its gradient on once") {
  Tape tape;
  const Var x = tape.variable(Tensor::scalar(1.5));
  const Var y = x * x;
  tape.backward(y * y + y);        // x^4 + x^2
  CHECK(x.grad().item() == 16.5);  // 4 x^3 + 2 x
}

TEST_CASE("tape: one Var as both operands, and in many ops") {
  Tape tape;
  const Var x = tape.variable(Tensor::scalar(3));
  tape.backward(x * x + x * 4.0 - x / x + x);
  CHECK(x.grad().item() == 2 * 3 + 4 + 1);
}

TEST_CASE("tape: a Var that the root does not depend on gets no gradient") {
  Tape tape;
  const Var x = tape.variable(Tensor::scalar(2)), unused = tape.variable(Tensor::scalar(5));
  const Var dead_end = square(x * unused);
  const Var root = x * 3.0;
  const Var later = square(root);
  tape.backward(root);
  CHECK(x.grad().item() == 3);
  CHECK_FALSE(unused.grad().defined());
  CHECK(dead_end.needs_grad());
  CHECK(later.needs_grad());
}

TEST_CASE("tape: a second backward from the same root doubles the leaves exactly") {
  Tape tape;
  const Var a = tape.variable(Tensor::scalar(3)), b = tape.variable(Tensor::scalar(2)),
            d = tape.variable(Tensor::scalar(1));
  const Var e = (a + b) * d;
  tape.backward(e);
  CHECK(a.grad().item() == 1);
  CHECK(b.grad().item() == 1);
  CHECK(d.grad().item() == 5);
  tape.backward(e);
  CHECK(a.grad().item() == 2);
  CHECK(b.grad().item() == 2);
  CHECK(d.grad().item() == 10);
}

TEST_CASE("tape: passes from different roots add up") {
  Tape tape;
  const Var x = tape.variable(Tensor::scalar(2));
  const Var y = square(x);
  tape.backward(y);
  tape.backward(y * x);
  CHECK(x.grad().item() == 4 + 12);
}

TEST_CASE("tape: a kept gradient does not change with a later pass") {
  Tape tape;
  const Var x = tape.variable(Tensor::scalar(2));
  const Var y = square(x);
  tape.backward(y);
  const Tensor first = x.grad();
  tape.backward(y);
  CHECK(first.item() == 4);
  CHECK(x.grad().item() == 8);
}

TEST_CASE("tape: the root may be a leaf") {
  Tape tape;
  const Var x = tape.variable(Tensor({2}, {1, 2}));
  tape.backward(x, Tensor({2}, {5, 7}));
  CHECK(x.grad().str() == "(2,) 5 7");
}

TEST_CASE("tape: a root of one element in any shape needs no seed") {
  Tape tape;
  const Var x = tape.variable(Tensor({1, 1}, {3}));
  tape.backward(square(x));
  CHECK(x.grad().str() == "(1, 1) 6");
}

TEST_CASE("tape: a seed gives the vector-Jacobian product of any root") {
  Tape tape;
  const Var x = tape.variable(Tensor({3}, {1, 2, 3}));
  const Tensor seed({3}, {1, 10, -1});
  tape.backward(square(x), seed);
  CHECK(x.grad().str() == "(3,) 2 40 -6");
  CHECK(seed.str() == "(3,) 1 10 -1");
}

TEST_CASE("tape: a parameter's gradient goes to the parameter and adds up over tapes") {
  Parameter w{"w", Tensor({2}, {3, 4})};
  for (int pass = 1; pass <= 3; ++pass) {
    Tape tape;
    tape.backward(sum(square(tape.watch(w))));
    CHECK(w.grad.at({0}) == 6 * pass);
    CHECK(w.grad.at({1}) == 8 * pass);
  }
  w.zero_grad();
  CHECK_FALSE(w.grad.defined());
}

TEST_CASE("tape: watching twice gives one node, and tied weights the sum") {
  Tape tape;
  Parameter w{"w", Tensor::scalar(3)};
  const Var first = tape.watch(w), second = tape.watch(w);
  CHECK(first.node() == second.node());
  CHECK(tape.size() == 1);
  tape.backward(square(first) + second * 5.0);
  CHECK(w.grad.item() == 6 + 5);
  CHECK(first.grad().item() == 11);
}

TEST_CASE("tape: a frozen parameter is a constant") {
  Tape tape;
  Parameter frozen{"frozen", Tensor::scalar(3), {}, false}, w{"w", Tensor::scalar(2)};
  const Var x = tape.watch(frozen);
  CHECK_FALSE(x.needs_grad());
  tape.backward(x * tape.watch(w));
  CHECK_FALSE(frozen.grad.defined());
  CHECK(w.grad.item() == 3);
}

TEST_CASE("tape: ops on constants record nothing") {
  Tape tape;
  const Var y = square(tape.constant(Tensor::scalar(3))) + 1.0;
  CHECK(y.value().item() == 10);
  CHECK_FALSE(y.needs_grad());
  CHECK(tape.size() == 0);
}

TEST_CASE("tape: under NoGrad values are computed and nothing is recorded") {
  Tape tape;
  Parameter w{"w", Tensor::scalar(3)};
  const Var x = tape.variable(Tensor::scalar(2));
  {
    const Tape::NoGrad outer(tape);
    { const Tape::NoGrad inner(tape); }
    const Var y = square(x) * tape.watch(w);  // the inner guard gave back what it found
    CHECK(y.value().item() == 12);
    CHECK_FALSE(y.needs_grad());
    CHECK(tape.size() == 1);
  }
  CHECK(square(x).needs_grad());
  CHECK(tape.size() == 2);
}

TEST_CASE("tape: what a closure holds is released when nothing is recorded") {
  Tape tape;
  const auto held = std::make_shared<int>(1);
  const auto closure = [held](const Tensor&) {};
  const long owners = held.use_count();
  const Var constant = tape.constant(Tensor::scalar(1));
  record("op", Tensor::scalar(1), {constant}, closure);
  CHECK(held.use_count() == owners);
  const Var x = tape.variable(Tensor::scalar(1));
  record("op", Tensor::scalar(1), {x}, closure);
  CHECK(held.use_count() == owners + 1);
  tape.clear();
  CHECK(held.use_count() == owners);
}

TEST_CASE("tape: retain_grad keeps the gradient of an intermediate value, over all passes") {
  Tape tape;
  const Var x = tape.variable(Tensor::scalar(2));
  const Var y = square(x).retain_grad();
  const Var z = square(y);
  tape.backward(z);
  CHECK(y.grad().item() == 8);  // 2 y
  CHECK(x.grad().item() == 32);
  tape.backward(z);
  CHECK(y.grad().item() == 16);
  CHECK(x.grad().item() == 64);
}

TEST_CASE("tape: retain_all_grads keeps every gradient, the root's too") {
  Tape tape;
  tape.retain_all_grads(true);
  const Var x = tape.variable(Tensor::scalar(2));
  const Var y = square(x), z = y * 3.0;
  tape.backward(z);
  CHECK(z.grad().item() == 1);
  CHECK(y.grad().item() == 3);
  CHECK(x.grad().item() == 12);
}

TEST_CASE("tape: an adjoint is released once it has been passed on") {
  Tape tape;
  Var y = tape.variable(Tensor::ones({1000}));
  for (int i = 0; i < 50; ++i) y = y * 2.0;
  trim_pool();
  const std::size_t before = pool_statistics().system_allocations;
  tape.backward(y, Tensor::ones({1000}));
  CHECK(pool_statistics().system_allocations - before <= 4);  // 50 if none were released
}

TEST_CASE("tape: vector_jacobian_product returns the product and leaves all gradients alone") {
  Tape tape;
  Parameter w{"w", Tensor({2}, {3, 4})};
  const Var x = tape.variable(Tensor({2}, {1, 2}));
  const Var y = (x * tape.watch(w)).retain_grad();
  const Var z = square(y);
  const Tensor seed({2}, {1, 10});
  CHECK(tape.vector_jacobian_product(z, seed, y).str() == "(2,) 6 160");
  CHECK(tape.vector_jacobian_product(z, seed, x).str() == "(2,) 18 640");
  CHECK(tape.vector_jacobian_product(z, seed, z).str() == "(2,) 1 10");
  CHECK_FALSE(w.grad.defined());
  CHECK_FALSE(x.grad().defined());
  CHECK_FALSE(y.grad().defined());
  tape.backward(z, seed);  // no remainder of the products above
  CHECK(x.grad().str() == "(2,) 18 640");
  CHECK(w.grad.str() == "(2,) 6 320");
}

TEST_CASE("tape: the vector-Jacobian product with respect to an unrelated Var is zero") {
  Tape tape;
  const Var x = tape.variable(Tensor::scalar(2)), other = tape.variable(Tensor::ones({3}));
  const Var y = square(x), later = square(y);
  CHECK(tape.vector_jacobian_product(y, Tensor::scalar(1), other).str() == "(3,) 0 0 0");
  CHECK(tape.vector_jacobian_product(y, Tensor::scalar(1), later).item() == 0);
}

TEST_CASE("tape: a loop that clears its tape keeps it at one size") {
  Tape tape;
  Parameter w{"w", Tensor::scalar(1)};
  for (int i = 0; i < 1000; ++i) {
    tape.clear();
    const Var loss = square(tape.watch(w)) + 1.0;
    tape.backward(loss);
    REQUIRE(tape.size() == 3);
  }
  CHECK(w.grad.item() == 2000);
}

TEST_CASE("tape: an empty tensor has an empty gradient") {
  Tape tape;
  const Var x = tape.variable(Tensor::zeros({0, 3}));
  tape.backward(square(x), Tensor::zeros({0, 3}));
  CHECK(x.grad().shape() == Shape{0, 3});
}

TEST_CASE("tape: a node needs the gradient only of the inputs that want it") {
  Tape tape;
  const Var x = tape.variable(Tensor::scalar(2)), c = tape.constant(Tensor::scalar(5));
  CHECK(static_cast<bool>(Adjoint(x)));
  CHECK_FALSE(static_cast<bool>(Adjoint(c)));
  CHECK_FALSE(static_cast<bool>(Adjoint(std::optional<Var>())));
  const Adjoint dx(x), dc(c), none{std::optional<Var>()};
  const Var y = record("op", Tensor::scalar(10), {x, c}, [=](const Tensor& dy) {
    dx += dy;
    dc += dy;  // nobody reads it
    none += dy;
  });
  tape.backward(y);
  CHECK(x.grad().item() == 1);
}

}  // namespace
}  // namespace normlab
