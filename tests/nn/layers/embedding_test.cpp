#include "nn/layers/embedding.hpp"

#include <limits>

#include <doctest/doctest.h>

#include "tests/support/module_checks.hpp"

using namespace normlab;

TEST_CASE("Embedding: values and gradients are PyTorch's, with and without a padding row") {
  for (const FixtureCase& fixture : load_fixture_cases("layers.json", "embedding")) {
    Embedding::Options options;
    if (fixture.has_option("padding_idx")) {
      options.padding_idx = fixture.option<std::int64_t>("padding_idx");
    }
    Generator generator(1);
    Embedding embedding(fixture.option<std::int64_t>("num_embeddings"),
                        fixture.option<std::int64_t>("embedding_dim"), generator, options);
    check_module_fixture(embedding, fixture,
                         [&](const Vars& in) { return embedding.forward(in[0]); });
  }
}

TEST_CASE("Embedding: gradients agree with differences, rows not read get none") {
  Generator generator(1);
  Embedding embedding(5, 3, generator);
  const std::vector<std::int64_t> rows{4, 0, 4};
  const GradcheckResult result = check_parameter_gradients(
      [&](Tape& tape) { return embedding.forward(tape, rows); }, embedding.parameters());
  CHECK_MESSAGE(result.passed, result.report);
  for (const std::int64_t unread : {1, 2, 3}) CHECK(embedding.weight.grad.at({unread, 1}) == 0.0);
}

TEST_CASE("Embedding: starts standard normal, with a padding row of zeros") {
  Generator generator(5), same(5);
  Embedding embedding(6, 4, generator, {.padding_idx = 2});
  Tensor expected = same.randn({6, 4});
  std::fill_n(expected.mutable_data() + 2 * 4, 4, 0.0);
  CHECK(max_abs_difference(embedding.weight.value, expected) == 0.0);
}

TEST_CASE("Embedding: indices as numbers and as a tensor read the same rows") {
  Generator generator(1);
  Embedding embedding(5, 3, generator);
  const std::vector<std::int64_t> rows{4, 0, 4};
  Tape tape;
  const Tensor by_list = embedding.forward(tape, rows).value();
  CHECK(by_list.shape().str() == "(3, 3)");
  CHECK(by_list.at({0, 2}) == embedding.weight.value.at({4, 2}));
  const Tensor by_tensor = evaluate(embedding, Tensor({3, 1}, {4, 0, 4}));
  CHECK(by_tensor.shape().str() == "(3, 1, 3)");
  CHECK(max_abs_difference(by_tensor.reshaped({3, 3}), by_list) == 0.0);
}

TEST_CASE("Embedding: no indices, no rows, zero gradient") {
  Generator generator(1);
  Embedding embedding(5, 8, generator);
  Tape tape;
  const Var y = embedding.forward(tape.constant(Tensor::zeros({0, 5})));
  CHECK(y.shape().str() == "(0, 5, 8)");
  tape.backward(y, Tensor::zeros({0, 5, 8}));
  CHECK(relative_error(embedding.weight.grad, Tensor::zeros({5, 8})) == 0.0);
}

TEST_CASE("Embedding: indices that name no row are refused") {
  Generator generator(1);
  Embedding embedding(5, 3, generator);
  for (const double index : {-1.0, 5.0, 1e15}) {
    CAPTURE(index);
    check_refused([&] { evaluate(embedding, Tensor({1}, {index})); }, "[index_select] indices");
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double index :
       {0.5, std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity, 1e300}) {
    CAPTURE(index);
    check_refused([&] { evaluate(embedding, Tensor({1}, {index})); },
                  "[Embedding] indices: must be whole numbers");
  }
  check_refused([&] { Embedding(0, 3, generator); }, "[Embedding] sizes: must be positive");
  for (const std::int64_t row : {-1, 5}) {
    check_refused([&] { Embedding(5, 3, generator, {.padding_idx = row}); },
                  "[Embedding] padding_idx: must lie in [0, 5)");
  }
}
