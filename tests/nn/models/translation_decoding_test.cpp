#include "nn/models/translation_decoding.hpp"

#include <algorithm>
#include <limits>

#include <doctest/doctest.h>

#include "core/ops/cross_entropy.hpp"
#include "core/ops/softmax.hpp"
#include "nn/optim/optimizer.hpp"
#include "tests/nn/models/translation_transformer_cases.hpp"

using namespace normlab;

TEST_CASE(
    "greedy_decode: a batch gives each sentence what it gets alone, as the forward pass says") {
  const auto model = small_model(tiny());
  const SearchOptions options{.max_length = 5};
  const Sentences together = greedy_decode(*model, kSources, options);
  REQUIRE(together.size() == kSources.size());
  for (std::size_t n = 0; n < kSources.size(); ++n) {
    CHECK(greedy_decode(*model, {kSources[n]}, options).front() == together[n]);
    std::vector<std::int64_t> prefix{options.begin};
    for (const std::int64_t token : together[n]) {
      const Tensor logits = decode_logits(*model, {kSources[n]}, {prefix});
      const Tensor row = logits_row(logits, 0, std::ssize(prefix) - 1);
      const auto likelier = std::ranges::count_if(row.values().subspan(1),
                                                  [&](double v) { return v > row.at({token}); });
      CHECK(likelier == 0);
      CHECK(token != 0);
      prefix.push_back(token);
    }
  }
}

TEST_CASE("beam_decode: a beam of one is greedy, a wider one finds what is at least as likely") {
  auto options = tiny();
  options.dropout = 0.3;  // which decoding must switch off, and leave the mode as it was
  const auto model = small_model(options);
  const auto log_probability = [&](const std::vector<std::int64_t>& source,
                                   std::vector<std::int64_t> output, std::int64_t max_length) {
    if (std::ssize(output) < max_length) output.push_back(2);
    std::vector<std::int64_t> prefix{1};
    double sum = 0.0;
    for (const std::int64_t token : output) {
      Tensor row = logits_row(decode_logits(*model, {source}, {prefix}), 0, std::ssize(prefix) - 1);
      row.mutable_data()[0] = -std::numeric_limits<double>::infinity();
      Tape tape;
      sum += log_softmax(tape.constant(row)).value().at({token});
      prefix.push_back(token);
    }
    return sum;
  };
  const Sentences greedy = greedy_decode(*model, kSources, {.max_length = 3});
  CHECK(beam_decode(*model, kSources, {.beam_size = 1, .max_length = 3}) == greedy);
  const Sentences wide = beam_decode(*model, kSources, {.beam_size = 400, .max_length = 3});
  CHECK(model->training());
  model->eval();
  for (std::size_t n = 0; n < kSources.size(); ++n) {
    CHECK(log_probability(kSources[n], wide[n], 3) >=
          log_probability(kSources[n], greedy[n], 3) - 1e-12);
  }
  CHECK(greedy_decode(*model, kSources, {.max_length = 3}) == greedy);
  CHECK_FALSE(model->training());
  check_refused([&] { greedy_decode(*model, {}); }, "[padded] source: must hold a sentence");
}

TEST_CASE(
    "greedy_decode: a model that learnt to turn sentences round does so, by beam search too") {
  const Sentences sources{{3, 4, 5}, {5, 3}, {6, 6, 4, 3}, {4}};
  Sentences inputs, expected;
  std::vector<std::int64_t> next;
  for (const std::vector<std::int64_t>& source : sources) {
    expected.emplace_back(source.rbegin(), source.rend());
    inputs.push_back({1});
    inputs.back().insert(inputs.back().end(), source.rbegin(), source.rend());
    next.insert(next.end(), source.rbegin(), source.rend());
    next.push_back(2);
    next.insert(next.end(), 4 - source.size(), 0);
  }
  for (const Placement placement : {Placement::post, Placement::pre}) {
    Generator generator(4);
    TranslationTransformer model({.source_vocabulary = kVocabulary,
                                  .target_vocabulary = kVocabulary,
                                  .layers = 1,
                                  .d_model = 16,
                                  .nhead = 2,
                                  .dim_feedforward = 32,
                                  .placement = placement,
                                  .dropout = 0.0,
                                  .tied = Tied::all},
                                 generator);
    Optimizer adam(model.parameters(), Adam{});
    for (int step = 0; step < 80; ++step) {
      model.zero_grad();
      Tape tape;
      tape.backward(cross_entropy(model.forward(tape, sources, inputs), next, {.ignore_index = 0}));
      adam.step(0.01);
    }
    CHECK(greedy_decode(model, sources) == expected);
    CHECK(beam_decode(model, sources) == expected);
  }
}
