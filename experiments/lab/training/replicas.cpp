// Tested by tests/experiments/train_digits/train_digits_threads_test.cpp.
#include "experiments/lab/training/replicas.hpp"

namespace normlab {

Replicas::Replicas(std::size_t count, int threads,
                   const std::function<std::unique_ptr<Module>(std::size_t)>& make)
    : threads_(threads) {
  for (std::size_t i = 0; i < count; ++i) {
    Copy copy{make(i), {}, {}};
    copy.parameters = copy.model->parameters();
    for (const auto& [name, buffer] : copy.model->named_buffers()) copy.buffers.push_back(buffer);
    copies_.push_back(std::move(copy));
  }
}

void Replicas::run(std::size_t count, const std::function<void(std::size_t, Module&)>& f) {
  const Copy& main = copies_.front();
  threads_.for_each(count, [&](std::size_t i) {
    Copy& copy = copies_[i];
    if (i == 0) {
      f(i, *copy.model);
      return;
    }
    for (std::size_t p = 0; p < copy.parameters.size(); ++p) {
      copy.parameters[p]->value = main.parameters[p]->value;
    }
    f(i, *copy.model);
    // A buffer that is shared is copied when it is written to, which the optimizer is about to do.
    for (Parameter* each : copy.parameters) each->value = Tensor();
  });
}

void Replicas::run_backward(std::size_t count, const std::function<void(std::size_t, Module&)>& f) {
  for (std::size_t i = 1; i < count; ++i) {
    for (std::size_t b = 0; b < copies_[i].buffers.size(); ++b) {
      // A copy of its own, not a share: each thread writes to its buffers, and the last one that
      // shares may not write in place while another still reads (the count alone orders nothing).
      const Tensor& first = *copies_.front().buffers[b];
      *copies_[i].buffers[b] = Tensor(first.shape(), first.values());
    }
  }
  run(count, [&](std::size_t i, Module& model) {
    for (Parameter* each : copies_[i].parameters) each->zero_grad();
    f(i, model);
  });
  add_up(count);
}

void Replicas::add_up(std::size_t count) {
  Copy& main = copies_.front();
  for (std::size_t i = 1; i < count; ++i) {
    for (std::size_t p = 0; p < main.parameters.size(); ++p) {
      const Tensor& gradient = copies_[i].parameters[p]->grad;
      Tensor& sum = main.parameters[p]->grad;
      if (!gradient.defined()) continue;
      if (sum.defined()) {
        sum += gradient;
      } else {
        sum = gradient;
      }
    }
    for (std::size_t b = 0; b < main.buffers.size(); ++b)
      *main.buffers[b] += *copies_[i].buffers[b];
  }
  if (count < 2) return;
  for (Tensor* buffer : main.buffers) {
    for (double& value : buffer->mutable_values()) value /= static_cast<double>(count);
  }
}

}  // namespace normlab
