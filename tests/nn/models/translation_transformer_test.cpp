// TranslationTransformer and its batches.
#include "nn/models/translation_transformer.hpp"

#include <cmath>
#include <stdexcept>

#include <doctest/doctest.h>

#include "core/ops/cross_entropy.hpp"
#include "nn/norms/norm_registry.hpp"
#include "nn/optim/optimizer.hpp"
#include "tests/nn/models/translation_transformer_cases.hpp"

using namespace normlab;

namespace {

Var compute_loss(TranslationTransformer& model, Tape& tape) {
  const Var logits = model.forward(tape, {{3, 4, 5}, {5}}, {{1, 3}, {1, 4}});
  return cross_entropy(logits, std::vector<std::int64_t>{3, 2, 4, 2});
}

}  // namespace

TEST_CASE("padded: what stands behind a shorter sentence is marked, and only that") {
  const PaddedBatch batch = padded("words", {{4, 5}, {6}, {7, 8}}, 0);
  CHECK(batch.sentences == 3);
  CHECK(batch.length == 2);
  CHECK(batch.tokens == std::vector<std::int64_t>{4, 5, 6, 0, 7, 8});
  CHECK(max_abs_difference(batch.padding, Tensor({3, 2}, {0, 0, 0, 1, 0, 0})) == 0.0);
  CHECK_FALSE(padded("words", {{4, 5}, {0, 8}}, 9).padding.defined());
}

TEST_CASE("TranslationTransformer: padding changes nothing, whatever is beside a sentence") {
  for (const Placement placement : {Placement::post, Placement::pre}) {
    for (const char* norm : {"layernorm", "rmsnorm"}) {
      auto options = tiny(placement);
      options.norm = norm;
      const auto model = small_model(options);
      const Tensor together = decode_logits(*model, kSources, kTargets);
      REQUIRE(together.shape() == Shape{3, 5, kVocabulary});
      CHECK(all_finite(together));
      for (std::size_t n = 0; n < kSources.size(); ++n) {
        const Tensor alone = decode_logits(*model, {kSources[n]}, {kTargets[n]});
        for (std::int64_t t = 0; t < std::ssize(kTargets[n]); ++t) {
          CHECK(relative_error(logits_row(together, static_cast<std::int64_t>(n), t),
                               logits_row(alone, 0, t)) <= 1e-12);
        }
      }
    }
  }
}

TEST_CASE("TranslationTransformer: gradients of a padded batch are the sum of its sentences'") {
  const auto model = small_model(tiny(Placement::post, Tied::all));
  const auto gradients = [&](const std::vector<std::pair<Sentences, Sentences>>& batches) {
    model->zero_grad();
    for (const auto& [source, target] : batches) {
      Tape tape;
      const Var logits = model->forward(tape, source, target);
      std::vector<std::int64_t> next;  // the tokens themselves will do
      const PaddedBatch batch = padded("target", target, 0);
      for (const std::int64_t token : batch.tokens) next.push_back(token);
      tape.backward(cross_entropy(logits, next, {.reduction = Reduction::sum, .ignore_index = 0}));
    }
    std::vector<Tensor> all;
    for (const Parameter* parameter : model->parameters()) all.push_back(parameter->grad);
    return all;
  };
  const auto together = gradients({{kSources, kTargets}});
  const auto apart = gradients({{{kSources[0]}, {kTargets[0]}},
                                {{kSources[1]}, {kTargets[1]}},
                                {{kSources[2]}, {kTargets[2]}}});
  for (std::size_t i = 0; i < together.size(); ++i) {
    CAPTURE(model->parameters()[i]->name);
    CHECK(relative_error(together[i], apart[i]) <= 1e-11);
  }
}

TEST_CASE("TranslationTransformer: the future is not seen, the whole source is") {
  const auto model = small_model(tiny());
  const Tensor before = decode_logits(*model, {{3, 4, 5}}, {{1, 3, 4, 5}});
  const Tensor after = decode_logits(*model, {{3, 4, 5}}, {{1, 3, 6, 2}});
  for (const std::int64_t t : {0, 1}) {
    CHECK(max_abs_difference(logits_row(before, 0, t), logits_row(after, 0, t)) == 0.0);
  }
  for (const std::int64_t t : {2, 3}) {
    CHECK(max_abs_difference(logits_row(before, 0, t), logits_row(after, 0, t)) > 1e-3);
  }
  const Tensor other_source = decode_logits(*model, {{3, 4, 2}}, {{1, 3, 4, 5}});
  const Tensor other_order = decode_logits(*model, {{4, 3, 5}}, {{1, 3, 4, 5}});
  for (const std::int64_t t : {0, 3}) {
    CHECK(max_abs_difference(logits_row(before, 0, t), logits_row(other_source, 0, t)) > 1e-3);
    CHECK(max_abs_difference(logits_row(before, 0, t), logits_row(other_order, 0, t)) > 1e-3);
  }
}

TEST_CASE("TranslationTransformer: gradients of every parameter agree with differences") {
  for (const Tied tied : {Tied::none, Tied::output, Tied::all}) {
    auto options = tiny(tied == Tied::output ? Placement::post : Placement::pre, tied);
    options.layers = 1;
    options.d_model = 4;
    options.activation = Activation::gelu;
    const auto model = small_model(options);
    const GradcheckResult result = check_parameter_gradients(
        [&](Tape& tape) { return compute_loss(*model, tape); }, model->parameters());
    CHECK_MESSAGE(result.passed, result.report);
  }
}

TEST_CASE("TranslationTransformer: tied embeddings are one parameter, updated once by the sum") {
  const auto names = [](TranslationTransformer& model) {
    std::string text;
    for (const auto& [name, parameter] : model.named_parameters()) {
      if (!name.starts_with("transformer.")) text += name + " ";
    }
    return text;
  };
  CHECK(names(*small_model(tiny())) ==
        "source_embedding.weight target_embedding.weight head.weight head.bias ");
  CHECK(names(*small_model(tiny(Placement::pre, Tied::output))) ==
        "source_embedding.weight target_embedding.weight ");
  const auto tied = small_model(tiny(Placement::pre, Tied::all));
  CHECK(names(*tied) == "embedding.weight ");
  CHECK(&tied->source_embedding == &tied->target_embedding);

  // The same function with three matrices of their own: their gradients add up to the tied one's.
  auto options = tiny();
  options.source_vocabulary = kVocabulary;
  const auto apart = small_model(options);
  for (const auto& [name, parameter] : apart->named_parameters()) {
    if (name.starts_with("transformer.")) parameter->value = tied->parameter(name).value;
  }
  const Tensor table = tied->source_embedding.weight.value;
  apart->source_embedding.weight.value = table;
  apart->target_embedding.weight.value = table;
  apart->head->weight.value = table;
  apart->head->bias->value = Tensor::zeros({kVocabulary});
  for (TranslationTransformer* model : {tied.get(), apart.get()}) {
    model->zero_grad();
    Tape tape;
    tape.backward(compute_loss(*model, tape));
  }
  Tensor sum = apart->source_embedding.weight.grad;
  sum += apart->target_embedding.weight.grad;
  sum += apart->head->weight.grad;
  CHECK(relative_error(tied->source_embedding.weight.grad, sum) <= 1e-12);

  Optimizer sgd(tied->parameters(), Sgd{});
  sgd.step(0.5);
  Tensor expected = table;
  for (std::int64_t i = 0; i < expected.numel(); ++i) {
    expected.mutable_data()[i] -= 0.5 * sum.data()[i];
  }
  CHECK(relative_error(tied->source_embedding.weight.value, expected) <= 1e-14);
}

TEST_CASE(
    "TranslationTransformer: starts with embeddings of variance 1 / width, none for padding") {
  Generator generator(1);
  TranslationTransformer model({.source_vocabulary = 50, .target_vocabulary = 40}, generator);
  for (const Embedding* embedding : {&model.source_embedding, &model.target_embedding}) {
    const Tensor& table = embedding->weight.value;
    CHECK(norm(logits_row(table.reshaped({1, table.rows(), 64}), 0, 0)) == 0.0);
    const double rows = static_cast<double>(table.rows() - 1);
    CHECK(std::abs(norm(table) - std::sqrt(rows)) <= 0.05 * std::sqrt(rows));
  }
  CHECK((model.transformer.encoder.norm != nullptr) == (model.transformer.decoder.norm != nullptr));
  CHECK(model.transformer.decoder.norm != nullptr);
}

TEST_CASE(
    "TranslationTransformer: dropout acts in train mode alone, and options leave hyperparameters") {
  auto options = tiny(Placement::post, Tied::output);
  options.dropout = 0.5;
  options.norm_eps = 0.25;
  const auto model = small_model(options);
  CHECK(max_abs_difference(decode_logits(*model, kSources, kTargets),
                           decode_logits(*model, kSources, kTargets)) > 0.0);
  model->eval();
  CHECK(max_abs_difference(decode_logits(*model, kSources, kTargets),
                           decode_logits(*model, kSources, kTargets)) == 0.0);
  int norms = 0;
  for (const auto& [name, hyperparameter] : model->named_hyperparameters()) {
    if (name == "tied_embeddings") CHECK(hyperparameter == Hyperparameter(std::string("output")));
    if (!name.ends_with(".eps")) continue;
    CHECK(std::get<double>(hyperparameter) == 0.25);
    ++norms;
  }
  CHECK(norms == 2 * 2 + 2 * 3);
}

TEST_CASE("TranslationTransformer: a memory that is kept gives what a forward pass gives") {
  const auto model = small_model(tiny());
  Tape tape;
  const TranslationTransformer::Memory memory = model->encode(tape, kSources);
  const Tensor expected = decode_logits(*model, kSources, kTargets);
  CHECK(max_abs_difference(model->decode(memory, kTargets).value(), expected) == 0.0);
  const std::vector<std::int64_t> some{2, 0, 2};
  const Tensor chosen = model
                            ->decode(TranslationTransformer::select(memory, some),
                                     {kTargets[2], kTargets[0], kTargets[2]})
                            .value();
  CHECK(relative_error(logits_row(chosen, 0, 2), logits_row(expected, 2, 2)) <= 1e-12);
  CHECK(relative_error(logits_row(chosen, 1, 1), logits_row(expected, 0, 1)) <= 1e-12);
  CHECK(relative_error(logits_row(chosen, 2, 2), logits_row(expected, 2, 2)) <= 1e-12);
}

TEST_CASE("TranslationTransformer: sizes, sentences and uses that do not fit are refused") {
  Generator generator(1);
  const auto refuses = [&](const TranslationTransformer::Options& options, const char* message) {
    check_refused([&] { TranslationTransformer(options, generator); }, message);
  };
  refuses(
      {.source_vocabulary = 5},
      "[TranslationTransformer] source_vocabulary, target_vocabulary, d_model: must be positive, "
      "got 5, 0, 64");
  refuses({.source_vocabulary = 5, .target_vocabulary = 6, .tied = Tied::all},
          "[TranslationTransformer] tied: must not be all unless both vocabularies have one size, "
          "got all for 5 and 6");
  refuses({.source_vocabulary = 5, .target_vocabulary = 6, .placement = Placement::sandwich},
          "[TransformerDecoderLayer] placement: must be post or pre, got sandwich");
  refuses({.source_vocabulary = 5, .target_vocabulary = 6, .padding = 5},
          "[Embedding] padding_idx");
  const auto model = small_model(tiny());
  const auto refuses_batch = [&](const Sentences& source, const Sentences& target,
                                 const char* message) {
    check_refused([&] { decode_logits(*model, source, target); }, message);
  };
  refuses_batch({}, {}, "[padded] source: must hold a sentence, got none");
  refuses_batch({{3}, {}}, {{1}, {1}},
                "[padded] source: must hold sentences of at least one token, got none in sentence "
                "1");
  refuses_batch({{3}}, {{}}, "[padded] target: must hold sentences of at least one token");
  refuses_batch({{3, 0}}, {{1}},
                "[padded] source: must not hold the padding index 0, got it in sentence 0");
  refuses_batch({{3}, {4}}, {{1}},
                "[TranslationTransformer] target: must hold one sentence for each source, got 1 "
                "for 2");
  refuses_batch({{6}}, {{1}}, "[index_select] indices: must lie in [0, 6), got 6");
}

TEST_CASE("TranslationTransformer: a norm that shows a decoder what it has to predict is refused") {
  Generator generator(0);
  for (const std::string& norm : nn::norms().names()) {
    CAPTURE(norm);
    const TranslationTransformer::Options options{.source_vocabulary = 5,
                                                  .target_vocabulary = 5,
                                                  .layers = 1,
                                                  .d_model = 8,
                                                  .nhead = 2,
                                                  .dim_feedforward = 8,
                                                  .norm = norm,
                                                  .dropout = 0.0};
    if (!nn::norms().at(norm).properties.token_independent) {
      CHECK_THROWS_WITH_AS(TranslationTransformer(options, generator),
                           doctest::Contains("must have token_independent among its properties"),
                           std::invalid_argument);
      continue;
    }
    // Of two targets that differ in their last token, the logits before it are the same.
    TranslationTransformer model(options, generator);
    Tape tape;
    const Tensor one = model.forward(tape, {{1, 2}}, {{1, 2, 3}}).value();
    const Tensor other = model.forward(tape, {{1, 2}}, {{1, 2, 4}}).value();
    for (std::int64_t i = 0; i < 2 * 5; ++i) CHECK(one.data()[i] == other.data()[i]);
    CHECK(one.data()[2 * 5] != other.data()[2 * 5]);
  }
}
