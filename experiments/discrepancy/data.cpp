// Tested by tests/experiments/discrepancy/discrepancy_test.cpp.
#include "experiments/discrepancy/data.hpp"

#include <algorithm>

#include "core/check.hpp"
#include "core/random.hpp"
#include "data/digits.hpp"

namespace normlab {

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

Tensor word_numbers(const Setting& setting, Generator& generator) {
  const Zipf zipf(kVocabulary);
  Tensor words = Tensor::uninitialized({setting.sequences, setting.tokens, 1});
  for (double& word : words.mutable_values()) word = static_cast<double>(zipf.draw(generator));
  return words;
}

Tensor make_content(const Setting& setting, Generator& generator) {
  switch (setting.source) {
    case TokenSource::patches:
      return patches(standardize(load_digits().range(0, setting.sequences).images),
                     patch_side(setting.tokens));
    case TokenSource::gaussian:
      return generator.randn({setting.sequences, setting.tokens, setting.width});
    case TokenSource::vocabulary:
      break;
  }
  return word_numbers(setting, generator);
}

std::vector<std::int64_t> labels_of_sequences(const Setting& setting, Generator& generator) {
  if (setting.source == TokenSource::patches && setting.classes == kDigitClasses) {
    return load_digits().range(0, setting.sequences).labels;
  }
  std::vector<std::int64_t> labels;
  for (std::int64_t s = 0; s < setting.sequences; ++s) {
    labels.push_back(generator.randint(setting.classes));
  }
  return labels;
}

std::vector<std::int64_t> make_labels(const Setting& setting, Generator& generator) {
  const std::int64_t count = setting.sequences * setting.tokens;
  std::vector<std::int64_t> labels;
  switch (setting.labels) {
    case Labels::per_sequence:
      for (const std::int64_t label : labels_of_sequences(setting, generator)) {
        labels.insert(labels.end(), static_cast<std::size_t>(setting.tokens), label);
      }
      break;
    case Labels::per_token:
      for (std::int64_t t = 0; t < count; ++t) labels.push_back(generator.randint(setting.classes));
      break;
    case Labels::word_frequencies: {
      const Zipf zipf(setting.classes);
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

SequenceData make_data(const Setting& setting, std::uint64_t seed) {
  constexpr std::uint64_t kStream = 0x40000000;  // apart from the weights'
  Generator generator(kStream + seed);
  Tensor content = make_content(setting, generator);
  return {std::move(content), make_labels(setting, generator)};
}

}  // namespace normlab
