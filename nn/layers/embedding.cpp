// Tested by tests/nn/layers/embedding_test.cpp.
#include "nn/layers/embedding.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/ops/shape_ops.hpp"
#include "nn/init.hpp"

namespace normlab {

Embedding::Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim, Generator& generator,
                     const Options& options)
    : weight(register_parameter("weight", Tensor::zeros({num_embeddings, embedding_dim}),
                                WeightDecay::on)),
      options_(options) {
  check(num_embeddings > 0 && embedding_dim > 0, "Embedding", "sizes", "must be positive",
        [&] { return weight.value.shape().str(); });
  init::normal(weight.value, generator);
  if (!options_.padding_idx) return;
  const std::int64_t row = *options_.padding_idx;
  check(row >= 0 && row < num_embeddings, "Embedding", "padding_idx",
        fmt::format("must lie in [0, {})", num_embeddings), [&] { return std::to_string(row); });
  std::fill_n(weight.value.mutable_data() + row * embedding_dim, embedding_dim, 0.0);
}

Var Embedding::forward(Tape& tape, std::span<const std::int64_t> indices) {
  return index_select(tape.watch(weight), indices, options_.padding_idx);
}

Var Embedding::forward(const Var& indices) {
  constexpr double kLargest = 0x1p53;  // whole numbers up to here are exact, and fit an integer
  std::vector<std::int64_t> rows;
  for (double index : indices.value().values()) {
    check(index == std::floor(index) && std::abs(index) <= kLargest, "Embedding", "indices",
          "must be whole numbers", [&] { return fmt::format("{}", index); });
    rows.push_back(static_cast<std::int64_t>(index));
  }
  std::vector<std::int64_t> extents = indices.shape().extents();
  extents.push_back(weight.value.shape()[1]);
  return reshape(forward(indices.tape(), rows), extents);
}

}  // namespace normlab
