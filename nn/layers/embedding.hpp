#pragma once

#include <optional>
#include <span>

#include "core/random.hpp"
#include "nn/module.hpp"

namespace normlab {

// A table of vectors that are read by index, as torch.nn.Embedding. Starts standard normal; the row
// of padding_idx starts at zero and receives no gradient.
class Embedding : public Layer {
 public:
  struct Options {
    std::optional<std::int64_t> padding_idx{};
  };
  // Throws std::invalid_argument unless both sizes are positive and padding_idx is a row.
  Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim, Generator& generator,
            const Options& options);
  Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim, Generator& generator)
      : Embedding(num_embeddings, embedding_dim, generator, Options{}) {}

  // -> (number of indices, embedding_dim).
  Var forward(Tape& tape, std::span<const std::int64_t> indices);
  // Indices held as doubles in a tensor of any shape (...) -> (..., embedding_dim). Both throw
  // std::invalid_argument for an index outside [0, num_embeddings).
  Var forward(const Var& indices) override;

  Parameter& weight;  // (num_embeddings, embedding_dim)

 private:
  Options options_;
};

}  // namespace normlab
