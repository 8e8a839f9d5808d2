// Tested by tests/experiments/discrepancy/discrepancy_test.cpp.
#include "experiments/discrepancy/data.hpp"

#include <algorithm>

#include "core/check.hpp"
#include "core/random.hpp"
#include "data/digits.hpp"

namespace normlab::discrepancy {

namespace {

// Draws 0 .. n-1, k with a probability proportional to 1 / (k + 1).
class Zipf {
 public:
  explicit Zipf(std::int64_t n) {
    double sum = 0.0;
    for (std::int64_t k = 1; k <= n; ++k) {
      sum += 1.0 / static_cast<double>(k);
      cumulative_.push_back(sum);
    }
  }
  std::int64_t draw(Generator& generator) const {
    const double at = generator.uniform() * cumulative_.back();
    return std::upper_bound(cumulative_.begin(), cumulative_.end() - 1, at) - cumulative_.begin();
  }

 private:
  std::vector<double> cumulative_;
};

Tensor word_numbers(const Setup& setup, Generator& generator) {
  const Zipf zipf(kVocabulary);
  Tensor words = Tensor::uninitialized({setup.sequences, setup.tokens, 1});
  for (double& word : words.mutable_values()) word = static_cast<double>(zipf.draw(generator));
  return words;
}

Tensor make_content(const Setup& setup, Generator& generator) {
  switch (setup.source) {
    case TokenSource::patches:
      return patches(standardize(load_digits().range(0, setup.sequences).images),
                     patch_side(setup.tokens));
    case TokenSource::gaussian:
      return generator.randn({setup.sequences, setup.tokens, setup.width});
    case TokenSource::vocabulary:
      break;
  }
  return word_numbers(setup, generator);
}

std::vector<std::int64_t> labels_of_sequences(const Setup& setup, Generator& generator) {
  if (setup.source == TokenSource::patches && setup.classes == kDigitClasses) {
    return load_digits().range(0, setup.sequences).labels;
  }
  std::vector<std::int64_t> labels;
  for (std::int64_t s = 0; s < setup.sequences; ++s) {
    labels.push_back(generator.randint(setup.classes));
  }
  return labels;
}

std::vector<std::int64_t> make_labels(const Setup& setup, Generator& generator) {
  const std::int64_t count = setup.sequences * setup.tokens;
  std::vector<std::int64_t> labels;
  switch (setup.labels) {
    case Labels::per_sequence:
      for (const std::int64_t label : labels_of_sequences(setup, generator)) {
        labels.insert(labels.end(), static_cast<std::size_t>(setup.tokens), label);
      }
      break;
    case Labels::per_token:
      for (std::int64_t t = 0; t < count; ++t) labels.push_back(generator.randint(setup.classes));
      break;
    case Labels::word_frequencies: {
      const Zipf zipf(setup.classes);
      for (std::int64_t t = 0; t < count; ++t) labels.push_back(zipf.draw(generator));
      break;
    }
  }
  return labels;
}

}  // namespace

SequenceData SequenceData::range(std::int64_t first, std::int64_t last) const {
  const std::int64_t tokens = content.shape()[1], row = tokens * content.width();
  return {Tensor(content.shape().with_axis(0, last - first),
                 content.values().subspan(static_cast<std::size_t>(first * row),
                                          static_cast<std::size_t>((last - first) * row))),
          {labels.begin() + first * tokens, labels.begin() + last * tokens}};
}

std::int64_t patch_side(std::int64_t tokens) {
  for (const std::int64_t side : {1, 2, 4}) {
    if (tokens * side * side == kDigitSide * kDigitSide) return side;
  }
  fail("discrepancy", "tokens", "must be 4, 16 or 64 for patches", std::to_string(tokens));
}

SequenceData make_data(const Setup& setup, std::uint64_t seed) {
  constexpr std::uint64_t kStream = 0x40000000;  // apart from the weights'
  Generator generator(kStream + seed);
  Tensor content = make_content(setup, generator);
  return {std::move(content), make_labels(setup, generator)};
}

}  // namespace normlab::discrepancy
