// Tested by tests/experiments/train_digits_test.cpp.
#include "experiments/digits_trainer.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/check.hpp"
#include "core/ops/cross_entropy.hpp"
#include "nn/optim/gradient_clipping.hpp"

namespace normlab {

namespace {

constexpr std::int64_t kImagesPerSlice = 16;
constexpr double kTrainShare = 0.8;
constexpr std::uint64_t kSplitSeed = 0;
const double kLossOfGuessing = std::log(static_cast<double>(kDigitClasses));
constexpr double kExploded = 10.0;  // times the loss of guessing

// One stream for each purpose: what one draws changes nothing of the others.
enum class Stream : std::uint64_t { weights, order, dropout };
Generator stream(std::uint64_t seed, Stream purpose) {
  Generator root(seed);
  std::uint64_t own = root.next64();
  for (auto i = static_cast<std::uint64_t>(purpose); i > 0; --i) own = root.next64();
  return Generator(own);
}

std::int64_t slices_of(std::int64_t images) {
  return (images + kImagesPerSlice - 1) / kImagesPerSlice;
}

std::int64_t argmax_matches(const Tensor& logits, const std::vector<std::int64_t>& labels) {
  std::int64_t matches = 0;
  const std::int64_t classes = logits.width();
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const double* first = logits.data() + static_cast<std::int64_t>(row) * classes;
    if (std::max_element(first, first + classes) - first == labels[row]) ++matches;
  }
  return matches;
}

Digits scaled(Digits digits) {
  for (double& pixel : digits.images.mutable_values()) pixel = pixel / 8.0 - 1.0;
  return digits;
}

const TrainDigitsOptions& checked(const TrainDigitsOptions& options) {
  const auto must = [](bool holds, const char* option, const char* rule, const std::string& got) {
    check(holds, "train_digits", option, rule, got);
  };
  must(options.width % kTrainHeads == 0, "--width", "must be a multiple of the 4 heads",
       std::to_string(options.width));
  must(options.epochs >= 1, "--epochs", "must be at least 1", std::to_string(options.epochs));
  must(options.batch_size >= 1, "--batch-size", "must be at least 1",
       std::to_string(options.batch_size));
  check_at_least("train_digits", "--lr", options.lr, 0.0);
  check_at_least("train_digits", "--clip", options.clip, 0.0);
  check_probability("train_digits", "--dropout", options.dropout);
  return options;
}

std::unique_ptr<Module> make_model(const TrainDigitsOptions& options) {
  Generator weights = stream(options.seed, Stream::weights);
  return std::make_unique<VisionTransformer>(model_options(options), weights);
}

}  // namespace

DigitsSplit split_digits(const Digits& digits) {
  check(digits.size() >= 2, "train_digits", "digits", "must be enough to train and to test on",
        [&] { return std::to_string(digits.size()); });
  Generator generator(kSplitSeed);
  const Split split = train_test_split(digits.size(), kTrainShare, generator);
  return {scaled(digits.select(split.train)), scaled(digits.select(split.test))};
}

DigitsTrainer::DigitsTrainer(const TrainDigitsOptions& options, const Digits& digits, int threads)
    : options_(checked(options)),
      data_(split_digits(digits)),
      replicas_(
          static_cast<std::size_t>(slices_of(std::min(options.batch_size, data_.train.size()))),
          threads, [&](std::size_t) { return make_model(options); }),
      optimizer_(groups_without_decay_on_norms(replicas_.model()), update_rule(options.optimizer)),
      order_generator_(stream(options.seed, Stream::order)) {
  const std::int64_t images = data_.train.size();
  steps_per_epoch_ = (images + options.batch_size - 1) / options.batch_size;
  schedule_ = {.peak = options.lr,
               .warmup = options.warmup,
               .decay = options.schedule,
               .total = steps(),
               .every = std::max<std::int64_t>(1, steps() / 3)};
  check(options.warmup >= 0 && options.warmup <= steps(), "train_digits", "--warmup",
        fmt::format("must be at most the {} steps of the run (0: no warmup)", steps()),
        std::to_string(options.warmup));
  Generator dropout = stream(options.seed, Stream::dropout);
  for (Generator* each : dropout_generators()) each->manual_seed(dropout.next64());
  start_epoch();
}

std::vector<Generator*> DigitsTrainer::dropout_generators() {
  std::vector<Generator*> all;
  for (std::size_t i = 0; i < replicas_.count(); ++i) {
    for (const auto& [name, generator] : replicas_.copy(i).named_generators()) {
      all.push_back(generator);
    }
  }
  return all;
}

void DigitsTrainer::start_epoch() {
  order_state_ = order_generator_.state();
  order_ = order_generator_.permutation(data_.train.size());
  epoch_sums_ = {};
}

std::vector<std::int64_t> DigitsTrainer::batch() const {
  const std::int64_t first = step_ % steps_per_epoch_ * options_.batch_size;
  const std::int64_t last = std::min(first + options_.batch_size, data_.train.size());
  return {order_.begin() + first, order_.begin() + last};
}

std::int64_t DigitsTrainer::images_per_step() const {
  return std::min(options_.batch_size, data_.train.size());
}

DigitsTrainer::SliceResult DigitsTrainer::forward_slice(
    Module& model, const Digits& from, const std::vector<std::int64_t>& positions,
    std::size_t slice, const std::function<void(const Var& loss)>& then, bool anomaly) const {
  const auto first = positions.begin() + static_cast<std::int64_t>(slice) * kImagesPerSlice;
  const auto last =
      positions.end() - first > kImagesPerSlice ? first + kImagesPerSlice : positions.end();
  const Digits digits = from.select({first, last});
  Tape tape;
  tape.detect_anomaly(anomaly);
  std::optional<Tape::NoGrad> no_grad;
  if (!then) no_grad.emplace(tape);
  const Var logits = model.forward(tape.constant(digits.images));
  const Var loss = cross_entropy(logits, digits.labels, {.reduction = Reduction::sum});
  if (then) then(loss);
  return {loss.value().item(), argmax_matches(logits.value(), digits.labels)};
}

DigitsTrainer::SliceResult DigitsTrainer::backward(const std::vector<std::int64_t>& positions) {
  const auto slices = static_cast<std::size_t>(slices_of(std::ssize(positions)));
  const Tensor share = Tensor::scalar(1.0 / static_cast<double>(positions.size()));
  std::vector<SliceResult> results(slices);
  replicas_.run_backward(slices, [&](std::size_t i, Module& model) {
    const auto backward = [&](const Var& loss) { loss.tape().backward(loss, share); };
    results[i] = forward_slice(model, data_.train, positions, i, backward, false);
  });
  return sum_of(results);
}

DigitsTrainer::SliceResult DigitsTrainer::sum_of(const std::vector<SliceResult>& results) {
  SliceResult sum;
  for (const SliceResult& each : results) {
    sum.loss += each.loss;
    sum.correct += each.correct;
  }
  return sum;
}

DigitsTrainer::Step DigitsTrainer::step() {
  if (at_end_of_epoch() && step_ > 0) start_epoch();
  const std::vector<std::int64_t> positions = batch();
  std::vector<Generator> generators_before;
  for (const Generator* each : dropout_generators()) generators_before.push_back(*each);

  const SliceResult sum = backward(positions);
  const auto images = static_cast<double>(positions.size());
  const std::vector<Parameter*>& parameters = replicas_.parameters();
  Step result{sum.loss / images, static_cast<double>(sum.correct) / images, 0.0};
  result.grad_norm =
      options_.clip > 0.0 ? clip_grad_norm(parameters, options_.clip) : grad_norm(parameters);
  const bool healthy = std::isfinite(result.grad_norm) &&
                       result.loss <= kExploded * kLossOfGuessing;  // false for NaN
  if (!healthy) {
    diverged_ = {step_ + 1, result.loss, result.grad_norm,
                 find_origin(positions, generators_before)};
    return result;
  }
  optimizer_.step(schedule_.at(++step_));
  epoch_sums_.loss += sum.loss;
  epoch_sums_.correct += static_cast<double>(sum.correct);
  epoch_sums_.grad_norm += result.grad_norm;
  return result;
}

// The step once more, from the same random numbers, with a look at every op.
std::string DigitsTrainer::find_origin(const std::vector<std::int64_t>& positions,
                                       const std::vector<Generator>& generators_before) {
  const std::vector<Generator*> generators = dropout_generators();
  for (std::size_t i = 0; i < generators.size(); ++i) *generators[i] = generators_before[i];
  const auto slices = static_cast<std::size_t>(slices_of(std::ssize(positions)));
  const Tensor share = Tensor::scalar(1.0 / static_cast<double>(positions.size()));
  try {
    replicas_.run_backward(slices, [&](std::size_t i, Module& model) {
      const auto backward = [&](const Var& loss) { loss.tape().backward(loss, share); };
      forward_slice(model, data_.train, positions, i, backward, true);
    });
  } catch (const std::runtime_error& anomaly) {
    return anomaly.what();
  }
  return "every op's result and gradient is finite; the weights have grown too far";
}

void DigitsTrainer::end_epoch() {
  const std::int64_t images = data_.test.size();
  std::vector<std::int64_t> positions(static_cast<std::size_t>(images));
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<std::int64_t>(i);
  const auto slices = static_cast<std::size_t>(slices_of(images));
  std::vector<SliceResult> results(slices);
  // In evaluation every copy computes the same but for running statistics, which only the main one
  // has up to date.
  for (std::size_t i = 1; i < replicas_.count(); ++i) {
    const auto from = replicas_.model().named_buffers(), to = replicas_.copy(i).named_buffers();
    for (std::size_t b = 0; b < from.size(); ++b) *to[b].second = *from[b].second;
  }
  replicas_.run(replicas_.count(), [&](std::size_t copy, Module& model) {
    model.eval();
    for (std::size_t slice = copy; slice < slices; slice += replicas_.count()) {
      results[slice] = forward_slice(model, data_.test, positions, slice, {}, false);
    }
    model.train();
  });
  EpochRecord record{.epoch = step_ / steps_per_epoch_, .step = step_, .lr = schedule_.at(step_)};
  const auto trained = static_cast<double>(data_.train.size());
  record.train_loss = epoch_sums_.loss / trained;
  record.train_accuracy = epoch_sums_.correct / trained;
  record.grad_norm = epoch_sums_.grad_norm / static_cast<double>(steps_per_epoch_);
  const SliceResult tested = sum_of(results);
  record.test_loss = tested.loss / static_cast<double>(images);
  record.test_accuracy = static_cast<double>(tested.correct) / static_cast<double>(images);
  epochs_.push_back(record);
}

}  // namespace normlab
