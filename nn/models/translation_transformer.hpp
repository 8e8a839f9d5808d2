#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nn/layers/embedding.hpp"
#include "nn/models/padded_batch.hpp"
#include "nn/transformer/transformer.hpp"

namespace normlab {

// A transformer that translates (Vaswani et al. 2017): source and target sentences as indices of
// tokens -> for every position of the target, the logits of the token that comes next,
// (N, T, target_vocabulary).
//
//   x_t    = sqrt(d_model) E[token_t] + PE(t)          on both sides, PE by sinusoidal_positions
//   memory = encoder(x of the source)
//   logits = head(decoder(x of the target, memory))  causal: position t sees tokens 0 .. t
//
// Embeddings start normal with variance 1 / d_model, so that the factor sqrt(d_model) makes an
// embedding as large as a position, and a tied head starts with logits of about 1. The rest starts
// as Transformer and Linear do. The row of the padding index starts at zero, and reading it sends
// no gradient there.
//
// Sentences of different lengths form one batch. Padding follows them and is hidden from every
// attention, so the result is that of each sentence alone. A norm that is not token_independent
// (NormProperties) is refused: it would undo that, and let a decoder see what it has to predict.
class TranslationTransformer : public Module {
 public:
  // Which matrices are shared (Press and Wolf 2017). A shared matrix is one Parameter whose
  // gradient is the sum over its uses. A tied head has no bias.
  enum class TiedEmbeddings {
    none,
    output,  // the head uses the target's embedding
    all,     // and so does the source: one vocabulary for both languages
  };
  struct Options {
    std::int64_t source_vocabulary = 0, target_vocabulary = 0;
    std::int64_t layers = 2, d_model = 64, nhead = 4,
                 dim_feedforward = 128;    // layers: on each side
    std::string norm = "layernorm";        // of nn::norms()
    std::optional<double> norm_eps{};      // not set: the norm's default
    Placement placement = Placement::pre;  // or post
    Activation activation = Activation::relu;
    double dropout = 0.1;  // on the embedded tokens, and where the blocks have it
    TiedEmbeddings tied = TiedEmbeddings::none;
    std::int64_t padding = 0;  // its index, in both vocabularies
  };
  // Throws std::invalid_argument for sizes that do not fit, a norm that is not registered or mixes
  // tokens, a placement that decoders do not have, and embeddings tied across vocabularies of two
  // sizes.
  TranslationTransformer(const Options& options, Generator& generator);

  using Sentences = std::vector<std::vector<std::int64_t>>;
  // One target for each source, as the decoder reads it: the begin token and then the sentence
  // without its end token, which the last position has to predict. Throws std::invalid_argument for
  // what `padded` refuses and for indices outside the vocabulary.
  Var forward(Tape& tape, const Sentences& source, const Sentences& target);

  // The two halves of forward, so that a source is encoded once and decoded any number of times.
  struct Memory {
    Var tokens;        // (N, S, d_model)
    Tensor padding{};  // (N, S), as in PaddedBatch
  };
  Memory encode(Tape& tape, const Sentences& source);
  Var decode(const Memory& memory, const Sentences& target);
  // The memory of these sentences, in this order; an index may occur more than once.
  static Memory select(const Memory& memory, std::span<const std::int64_t> sentences);

  const Options& options() const { return options_; }

  Embedding& source_embedding;  // weight (source_vocabulary, d_model)
  Embedding& target_embedding;  // weight (target_vocabulary, d_model); the same one if all are tied
  Dropout& dropout;
  Transformer& transformer;
  Linear* head = nullptr;  // weight (target_vocabulary, d_model); null if tied

 private:
  Var embed(Tape& tape, Embedding& embedding, const PaddedBatch& batch);

  Options options_;
};

}  // namespace normlab
