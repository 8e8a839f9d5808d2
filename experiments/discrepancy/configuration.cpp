// Tested by tests/experiments/discrepancy/configuration_test.cpp.
#include "experiments/discrepancy/configuration.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "experiments/discrepancy/model.hpp"

namespace normlab::discrepancy {

namespace {

// The random numbers of dropout are apart from those of the weights, and each part has its own.
std::uint64_t dropout_seed(std::uint64_t seed, int part) {
  constexpr std::uint64_t kStream = 0x20000000, kSeedsOfAPart = 2;
  return kStream + kSeedsOfAPart * (2 * seed + static_cast<std::uint64_t>(part));
}

// Observes one forward pass: the tokens between blocks, and the two factors of every
// W2's gradient.
class Observer {
 public:
  explicit Observer(SetupModel& model)
      : model_(model), hidden_(model.encoder().layers.size()), sums_(hidden_.size()) {
    for (std::size_t i = 0; i < hidden_.size(); ++i) {
      const std::string layer = "encoder.layers." + std::to_string(i);
      places_[layer + ".input"] = {Observed::stream, i};
      places_[layer + ".linear2.input"] = {Observed::hidden, i};
      places_[layer + ".linear2.output"] = {Observed::sum, i};
    }
    places_["output"] = {Observed::stream, hidden_.size()};
    model.register_hook(
        [this](const std::string& name, const Var& value) { observe(name, value); });
  }
  ~Observer() { model_.remove_hook(); }
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  void add_similarity(std::vector<TokenSimilarity>& similarity) const {
    for (const auto& [at, tokens] : stream_) similarity[at].add(tokens);
  }
  // After the backward pass.
  void add_squares(std::vector<GradientSquares>& squares) const {
    for (std::size_t i = 0; i < hidden_.size(); ++i) squares[i].add(hidden_[i], sums_[i]->grad());
  }

 private:
  enum class Observed { stream, hidden, sum };

  void observe(const std::string& name, const Var& value) {
    const auto found = places_.find(name);
    if (found == places_.end()) return;
    const auto [observed, at] = found->second;
    if (observed == Observed::stream) stream_.emplace_back(at, value.value());
    if (observed == Observed::hidden) hidden_[at] = value.value();
    if (observed == Observed::sum) sums_[at] = value.retain_grad();
  }

  SetupModel& model_;
  std::map<std::string, std::pair<Observed, std::size_t>> places_;
  std::vector<std::pair<std::size_t, Tensor>> stream_;
  std::vector<Tensor> hidden_;
  std::vector<std::optional<Var>> sums_;
};

void add(const Tensor& term, Tensor& sum) {
  if (!term.defined()) return;
  if (sum.defined()) {
    sum += term;
  } else {
    sum = term;
  }
}

// The gradients of one slice, which the parameters then forget.
void take_gradients(SetupModel& model, std::vector<Tensor>& sums) {
  for (std::size_t i = 0; i < sums.size(); ++i) {
    add(model.encoder().layers[i]->linear2.weight.grad, sums[i]);
  }
  model.zero_grad();
}

// One forward and backward pass for sequences of one mini-batch.
void measure_slice(SetupModel& model, const SequenceData& data, double weight_of_token,
                   PartialMeasurement::MiniBatch& into, PartialMeasurement& sums) {
  Observer observer(model);
  Tape tape;
  const Var loss = model.loss_sum(tape, data);
  tape.backward(loss, Tensor::scalar(weight_of_token));
  sums.loss += loss.value().item();
  observer.add_similarity(sums.similarity);
  observer.add_squares(into.squares);
  take_gradients(model, into.gradient);
}

// Few enough tokens that what a block computes for them stays in the cache.
std::int64_t sequences_per_slice(const Setup& setup) {
  constexpr std::int64_t kTokensPerSlice = 256;
  return std::max<std::int64_t>(1, kTokensPerSlice / setup.tokens);
}

}  // namespace

PartialMeasurement measure_part(const Setup& setup, const Configuration& configuration, int part,
                                int parts) {
  const std::int64_t begin = setup.sequences * part / parts,
                     end = setup.sequences * (part + 1) / parts;
  SetupModel model(setup, configuration.layers, configuration.placement, configuration.seed,
                   dropout_seed(configuration.seed, part));
  const SequenceData data = make_data(setup, configuration.seed);
  const auto layers = static_cast<std::size_t>(configuration.layers);
  PartialMeasurement sums;
  sums.similarity.resize(layers + 1);
  for (std::int64_t batch = 0; batch < setup.mini_batches; ++batch) {
    const std::int64_t first = setup.sequences * batch / setup.mini_batches,
                       last = setup.sequences * (batch + 1) / setup.mini_batches;
    const double weight = 1.0 / static_cast<double>((last - first) * setup.tokens);
    PartialMeasurement::MiniBatch& into = sums.mini_batches.emplace_back();
    into.gradient.resize(layers);
    into.squares.resize(layers);
    const std::int64_t step = sequences_per_slice(setup), stop = std::min(last, end);
    for (std::int64_t at = std::max(first, begin); at < stop; at += step) {
      measure_slice(model, data.range(at, std::min(at + step, stop)), weight, into, sums);
    }
  }
  sums.loss /= static_cast<double>(setup.sequences * setup.tokens);
  return sums;
}

namespace {

void add_layer(const std::vector<PartialMeasurement>& parts, std::size_t batch, std::size_t layer,
               double share, Measurement& result) {
  Tensor gradient;
  for (const PartialMeasurement& part : parts) {
    const PartialMeasurement::MiniBatch& of_part = part.mini_batches[batch];
    add(of_part.gradient[layer], gradient);
    result.self[layer] += share * of_part.squares[layer].self;
    result.same_sequence[layer] += share * of_part.squares[layer].same_sequence;
  }
  const double length = norm(gradient);
  result.w2_grad_norm[layer] += share * length;
  result.square[layer] += share * length * length;
}

}  // namespace

Measurement join(const std::vector<PartialMeasurement>& parts) {
  Measurement result;
  const std::size_t layers = parts.front().similarity.size() - 1,
                    batches = parts.front().mini_batches.size();
  for (auto* list : {&result.w2_grad_norm, &result.square, &result.self, &result.same_sequence}) {
    list->assign(layers, 0.0);
  }
  for (std::size_t batch = 0; batch < batches; ++batch) {
    for (std::size_t layer = 0; layer < layers; ++layer) {
      add_layer(parts, batch, layer, 1.0 / static_cast<double>(batches), result);
    }
  }
  for (std::size_t at = 0; at <= layers; ++at) {
    TokenSimilarity similarity;
    for (const PartialMeasurement& part : parts) similarity.add(part.similarity[at]);
    result.similarity_within.push_back(similarity.within());
    result.similarity_across.push_back(similarity.across());
  }
  for (const PartialMeasurement& part : parts) result.loss += part.loss;
  return result;
}

Measurement measure_discrepancy(const Setup& setup, const Configuration& configuration, int parts) {
  std::vector<PartialMeasurement> sums;
  for (int part = 0; part < parts; ++part) {
    sums.push_back(measure_part(setup, configuration, part, parts));
  }
  return join(sums);
}

double cost_of_part(const Setup& setup, const Configuration& configuration, int parts) {
  const auto d = static_cast<double>(setup.width), f = static_cast<double>(setup.ffn()),
             layers = static_cast<double>(configuration.layers),
             classes = static_cast<double>(setup.classes),
             tokens =
                 static_cast<double>(setup.sequences * setup.tokens) / static_cast<double>(parts);
  const double weights = 4.0 * d * d + 2.0 * d * f;         // of a block
  const double passes = setup.cross_attention ? 4.5 : 2.5;  // a forward pass is one
  constexpr double kDrawing = 50.0;                         // of a weight, in products
  return layers * weights * (tokens * passes + kDrawing) + d * classes * (tokens * 3.0 + kDrawing);
}

}  // namespace normlab::discrepancy
