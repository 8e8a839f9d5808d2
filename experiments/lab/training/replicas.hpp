#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "experiments/lab/training/worker_threads.hpp"
#include "nn/module.hpp"

namespace normlab {

// One model in several copies, so that the slices of a batch can go through it at the same time:
// each copy has gradients, generators and running statistics of its own. How many copies there are
// says how a batch is cut, and not how many threads there are, and what the copies found is put
// together in their order; so the numbers do not depend on the threads.
//
// Weights are not copied: during a round all copies share the main one's buffers.
class Replicas {
 public:
  // make(i) makes copy i; all alike but for their generators. Copy 0 is the main one.
  Replicas(std::size_t count, int threads,
           const std::function<std::unique_ptr<Module>(std::size_t)>& make);

  Module& model() { return *copies_.front().model; }
  Module& copy(std::size_t i) { return *copies_[i].model; }
  std::size_t count() const { return copies_.size(); }
  const std::vector<Parameter*>& parameters() const { return copies_.front().parameters; }

  // f(i, copy i) for all i < count at the same time.
  void run(std::size_t count, const std::function<void(std::size_t, Module&)>& f);
  // The same for passes that add to gradients: starts them from nothing and leaves their sum over
  // the copies in the main one. Running statistics become the mean over the copies.
  void run_backward(std::size_t count, const std::function<void(std::size_t, Module&)>& f);

 private:
  struct Copy {
    std::unique_ptr<Module> model;
    std::vector<Parameter*> parameters;
    std::vector<Tensor*> buffers;
  };
  void add_up(std::size_t count);

  std::vector<Copy> copies_;
  WorkerThreads threads_;
};

}  // namespace normlab
