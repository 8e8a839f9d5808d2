// Tested by tests/experiments/train_digits/train_digits_test.cpp.
#include "experiments/lab/training/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "core/check.hpp"
#include "experiments/lab/runs/jobs.hpp"
#include "nn/optim/gradient_clipping.hpp"

namespace normlab {

namespace {

constexpr double kExploded = 10.0;  // times the loss of guessing

// One stream for each purpose: what one draws changes nothing of the others.
enum class Stream : std::uint64_t { weights, order, dropout };
Generator stream(std::uint64_t seed, Stream purpose) {
  Generator root(seed);
  std::uint64_t own = root.next64();
  for (auto i = static_cast<std::uint64_t>(purpose); i > 0; --i) own = root.next64();
  return Generator(own);
}

TrainingTask checked(TrainingTask task, const TrainingOptions& options) {
  const auto at_least_1 = [&](const char* option, std::int64_t value) {
    check(value >= 1, task.program, option, "must be at least 1", std::to_string(value));
  };
  at_least_1("--epochs", options.epochs);
  at_least_1("--batch-size", options.batch_size);
  at_least_1("training examples", task.train.size());
  at_least_1("test examples", task.test.size());
  check_at_least(task.program, "--lr", options.lr, 0.0);
  check_at_least(task.program, "--clip", options.clip, 0.0);
  check_probability(task.program, "--dropout", options.dropout);
  return task;
}

std::int64_t sum_over(const std::vector<std::int64_t>& counts,
                      const std::vector<std::int64_t>& positions) {
  std::int64_t sum = 0;
  for (const std::int64_t position : positions) sum += counts[static_cast<std::size_t>(position)];
  return sum;
}

double total(const std::vector<std::int64_t>& counts) {
  return static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
}

}  // namespace

double entropy(const std::vector<std::int64_t>& counts) {
  const double all = total(counts);
  double sum = 0.0;
  for (const std::int64_t count : counts) {
    const double share = static_cast<double>(count) / all;
    if (count > 0) sum -= share * std::log(share);
  }
  return sum;
}

std::int64_t count_right(const Tensor& logits, const std::vector<std::int64_t>& targets,
                         std::optional<std::int64_t> ignored) {
  std::int64_t right = 0;
  const std::int64_t outcomes = logits.width();
  const double* row = logits.data();
  for (const std::int64_t target : targets) {
    if (target != ignored) right += std::max_element(row, row + outcomes) - row == target;
    row += outcomes;
  }
  return right;
}

Trainer::Trainer(TrainingTask task, const TrainingOptions& options, int threads)
    : task_(checked(std::move(task), options)),
      options_(options),
      replicas_(
          static_cast<std::size_t>(slices_of(std::min(options.batch_size, task_.train.size()))),
          threads,
          [&](std::size_t) {
            Generator weights = stream(options.seed, Stream::weights);
            return task_.make_model(weights);
          }),
      optimizer_(groups_without_decay_on_norms(replicas_.model()),
                 update_rule(task_.program, options.optimizer)),
      order_generator_(stream(options.seed, Stream::order)),
      steps_per_epoch_((task_.train.size() + options.batch_size - 1) / options.batch_size) {
  schedule_ = {.peak = options.lr,
               .warmup = options.warmup,
               .decay = decay_of(options.schedule),
               .total = steps(),
               .every = (steps() + 2) / 3};
  check(options.warmup >= 0 && options.warmup <= steps(), task_.program, "--warmup",
        fmt::format("must be at most the {} steps of the run (0: no warmup)", steps()),
        std::to_string(options.warmup));
  Generator dropout = stream(options.seed, Stream::dropout);
  for (Generator* each : dropout_generators()) each->manual_seed(dropout.next64());
  start_epoch();
}

std::int64_t Trainer::slices_of(std::int64_t examples) const {
  return (examples + task_.slice - 1) / task_.slice;
}

std::vector<Generator*> Trainer::dropout_generators() {
  std::vector<Generator*> all;
  for (std::size_t i = 0; i < replicas_.count(); ++i) {
    for (const auto& [name, generator] : replicas_.copy(i).named_generators()) {
      all.push_back(generator);
    }
  }
  return all;
}

void Trainer::start_epoch() {
  order_state_ = order_generator_.state();
  order_ = order_generator_.permutation(task_.train.size());
  epoch_sums_ = {};
}

Trainer::Positions Trainer::batch() const {
  const std::int64_t first = step_ % steps_per_epoch_ * options_.batch_size;
  const std::int64_t last = std::min(first + options_.batch_size, task_.train.size());
  return {order_.begin() + first, order_.begin() + last};
}

Trainer::SliceResult Trainer::pass_slice(Module& model, TrainingTask::Part part,
                                         const Positions& positions, std::size_t slice,
                                         const std::function<void(const Var& loss)>& then,
                                         bool anomaly) const {
  const auto first = positions.begin() + static_cast<std::int64_t>(slice) * task_.slice;
  const auto last = positions.end() - first > task_.slice ? first + task_.slice : positions.end();
  Tape tape;
  tape.detect_anomaly(anomaly);
  std::optional<Tape::NoGrad> no_grad;
  if (!then) no_grad.emplace(tape);
  const TrainingTask::Pass pass = task_.pass(model, tape, part, {first, last});
  if (then) then(pass.loss);
  return {pass.loss.value().item(), pass.correct};
}

Trainer::SliceResult Trainer::backward(const Positions& positions, bool anomaly) {
  const auto slices = static_cast<std::size_t>(slices_of(std::ssize(positions)));
  const auto predictions = static_cast<double>(sum_over(task_.train.predictions, positions));
  const Tensor share = Tensor::scalar(1.0 / predictions);
  std::vector<SliceResult> results(slices);
  replicas_.run_backward(slices, [&](std::size_t i, Module& model) {
    const auto backward = [&](const Var& loss) { loss.tape().backward(loss, share); };
    results[i] = pass_slice(model, TrainingTask::Part::train, positions, i, backward, anomaly);
  });
  return sum_of(results);
}

Trainer::SliceResult Trainer::sum_of(const std::vector<SliceResult>& results) {
  SliceResult sum;
  for (const SliceResult& each : results) {
    sum.loss += each.loss;
    sum.correct += each.correct;
  }
  return sum;
}

Trainer::Step Trainer::step() {
  const Step result = compute_gradients();
  if (!diverged_) update();
  return result;
}

Trainer::Step Trainer::compute_gradients() {
  if (at_end_of_epoch() && step_ > 0) start_epoch();
  const Positions positions = batch();
  std::vector<Generator> generators_before;
  for (const Generator* each : dropout_generators()) generators_before.push_back(*each);

  const SliceResult sum = backward(positions, /*anomaly=*/false);
  const auto predictions = static_cast<double>(sum_over(task_.train.predictions, positions));
  const std::vector<Parameter*>& parameters = replicas_.parameters();
  Step result{sum.loss / predictions, static_cast<double>(sum.correct) / predictions, 0.0};
  result.grad_norm =
      options_.clip > 0.0 ? clip_grad_norm(parameters, options_.clip) : grad_norm(parameters);
  const bool healthy =
      std::isfinite(result.grad_norm) &&
      result.loss <= kExploded * std::log(static_cast<double>(task_.outcomes));  // false for NaN
  if (!healthy) {
    diverged_ = {step_ + 1, result.loss, result.grad_norm,
                 find_origin(positions, generators_before)};
    return result;
  }
  epoch_sums_.loss += sum.loss;
  epoch_sums_.correct += static_cast<double>(sum.correct);
  epoch_sums_.grad_norm += result.grad_norm;
  tokens_of_last_step_ = sum_over(task_.train.tokens, positions);
  return result;
}

void Trainer::update() { optimizer_.step(schedule_.at(++step_)); }

// The step once more, from the same random numbers, with a look at every op.
std::string Trainer::find_origin(const Positions& positions,
                                 const std::vector<Generator>& generators_before) {
  const std::vector<Generator*> generators = dropout_generators();
  for (std::size_t i = 0; i < generators.size(); ++i) *generators[i] = generators_before[i];
  try {
    backward(positions, /*anomaly=*/true);
  } catch (const std::runtime_error& anomaly) {
    return anomaly.what();
  }
  return "every op's result and gradient is finite; the weights have grown too far";
}

void Trainer::end_epoch() {
  Positions positions(static_cast<std::size_t>(task_.test.size()));
  std::iota(positions.begin(), positions.end(), 0);
  const auto slices = static_cast<std::size_t>(slices_of(task_.test.size()));
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
      results[slice] = pass_slice(model, TrainingTask::Part::test, positions, slice, {}, false);
    }
    model.train();
  });
  EpochRecord record{.epoch = step_ / steps_per_epoch_, .step = step_, .lr = schedule_.at(step_)};
  const double trained = total(task_.train.predictions), asked = total(task_.test.predictions);
  record.train_loss = epoch_sums_.loss / trained;
  record.train_accuracy = epoch_sums_.correct / trained;
  record.grad_norm = epoch_sums_.grad_norm / static_cast<double>(steps_per_epoch_);
  const SliceResult tested = sum_of(results);
  record.test_loss = tested.loss / asked;
  record.test_accuracy = static_cast<double>(tested.correct) / asked;
  if (!std::isfinite(record.test_loss)) {
    diverged_ = {step_, record.test_loss, record.grad_norm,
                 "the loss on the test set after this step; the weights have grown too far"};
    return;
  }
  epochs_.push_back(record);
}

TrainingResult run_training(const TrainingTask& task, const TrainingOptions& options, int threads,
                            const TrainingHooks& hooks, const Safetensors* resume,
                            const std::string& resume_name) {
  Trainer trainer(task, options, threads);
  if (resume != nullptr) trainer.restore(*resume, resume_name);
  std::int64_t tokens = 0;
  while (trainer.steps_done() < trainer.steps()) {
    const Trainer::Step step = trainer.step();
    if (trainer.diverged()) break;
    tokens += trainer.tokens_of_last_step();
    if (trainer.at_end_of_epoch()) trainer.end_epoch();
    if (trainer.diverged()) break;
    const std::int64_t done = trainer.steps_done();
    const bool due = hooks.every > 0 ? done % hooks.every == 0 : trainer.at_end_of_epoch();
    const bool last = done == trainer.steps();
    const bool stop = !last && hooks.stop && hooks.stop();
    if (hooks.checkpoint && (due || last || stop)) hooks.checkpoint(trainer.checkpoint());
    if (stop) throw Interrupted();
    if (hooks.progress) {
      hooks.progress({done, trainer.steps(), step.loss, step.accuracy, step.grad_norm, tokens});
    }
  }
  if (hooks.trained && !trainer.diverged()) {
    trainer.model().eval();
    hooks.trained(trainer.model());
  }
  return {trainer.epochs(), trainer.diverged()};
}

}  // namespace normlab
