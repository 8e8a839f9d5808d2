#include "nn/layers/dropout.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <doctest/doctest.h>

#include "tests/support/module_checks.hpp"

using namespace normlab;

TEST_CASE("Dropout: in train mode a value is 0 or 1 / (1 - p) times itself, the mean preserved") {
  Generator generator(1);
  Dropout dropout(0.1, generator);
  const Tensor y = evaluate(dropout, Tensor::ones({100000}));
  const auto is_right = [](double value) {
    return value == 0.0 || std::abs(value - 1.1111111111111112) <= 1e-15;
  };
  CHECK(std::ranges::all_of(y.values(), is_right));
  // The mean of 100,000 such values has the standard deviation 0.00105: five of them.
  CHECK(std::abs(std::accumulate(y.values().begin(), y.values().end(), 0.0) / 1e5 - 1.0) <= 0.0053);
}

TEST_CASE("Dropout: evaluation is the identity, and train mode can be taken up again") {
  Generator generator(1);
  Dropout dropout(0.5, generator);
  const Tensor x = random({40, 5});
  dropout.eval();
  CHECK(max_abs_difference(evaluate(dropout, x), x) == 0.0);
  dropout.train();
  CHECK(max_abs_difference(evaluate(dropout, x), x) > 0.0);
}

TEST_CASE("Dropout: the gradient goes where the value went") {
  Generator generator(1);
  Dropout dropout(0.5, generator);
  const Evaluation ones = evaluate([&](const Vars& in) { return dropout.forward(in[0]); },
                                   {Tensor::ones({6, 5})}, Tensor::ones({6, 5}));
  CHECK(max_abs_difference(ones.gradients[0], ones.value) == 0.0);
}

TEST_CASE("Dropout: p = 0 is the identity and draws nothing, p = 1 gives zeros") {
  Generator generator(1), untouched(1);
  Dropout none(0.0, generator);
  const Tensor x = random({40, 5});
  CHECK(max_abs_difference(evaluate(none, x), x) == 0.0);
  CHECK(generator.next64() == untouched.next64());
  Dropout all(1.0, generator);
  const Evaluation zeros =
      evaluate([&](const Vars& in) { return all.forward(in[0]); }, {x}, Tensor::ones({40, 5}));
  CHECK(norm(zeros.value) == 0.0);
  CHECK(norm(zeros.gradients[0]) == 0.0);
}

TEST_CASE("Dropout: masks come from a stream of its own, reproducible by the seed") {
  Generator generator(7), same(7);
  Dropout first(0.5, generator), twin(0.5, same), second(0.5, generator);
  const Tensor x = Tensor::ones({100});
  const Tensor y = evaluate(first, x);
  generator.next64();  // what the outer generator does later does not matter
  CHECK(max_abs_difference(evaluate(twin, x), y) == 0.0);
  CHECK(max_abs_difference(evaluate(second, x), y) > 0.0);
  const Tensor later = evaluate(first, x);
  CHECK(max_abs_difference(later, y) > 0.0);
  CHECK(max_abs_difference(evaluate(twin, x), later) == 0.0);

  first.generator().manual_seed(3);
  const Tensor restarted = evaluate(first, x);
  first.generator().manual_seed(3);
  CHECK(max_abs_difference(evaluate(first, x), restarted) == 0.0);
}

TEST_CASE("Dropout: construction takes one draw of the given generator") {
  Generator generator(7), same(7);
  const Dropout dropout(0.5, generator);
  CHECK(dropout.p() == 0.5);
  same.next64();
  CHECK(generator.next64() == same.next64());
}

TEST_CASE("Dropout: an empty input stays empty") {
  Generator generator(1);
  Dropout dropout(0.5, generator);
  check_empty_module(dropout, {0, 5, 8}, {0, 5, 8});
}

TEST_CASE("Dropout: p must be a probability") {
  Generator generator(1);
  for (const double p : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    CAPTURE(p);
    check_refused([&] { Dropout(p, generator); }, "[Dropout] p: must be a probability in [0, 1]");
  }
}
