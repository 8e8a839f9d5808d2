#include "experiments/lab/training/replicas.hpp"

#include <doctest/doctest.h>

using namespace normlab;

namespace {

struct Statistics : Module {
  Statistics() : weight(&register_parameter("weight", Tensor::scalar(1.0))) {
    register_buffer("running", running);
  }
  Parameter* weight;
  Tensor running = Tensor::scalar(5.0);
};

}  // namespace

TEST_CASE("Replicas: gradients add up over the copies, and running statistics become their mean") {
  Replicas replicas(4, 1, [](std::size_t) { return std::make_unique<Statistics>(); });
  const auto own = [](Module& model) -> Statistics& { return dynamic_cast<Statistics&>(model); };
  // Three of the four copies, which find 2, 4 and 12; each starts from the main one's 5.
  replicas.run_backward(3, [&](std::size_t i, Module& model) {
    CHECK(own(model).running.item() == 5.0);
    const double found = i == 0 ? 2.0 : i == 1 ? 4.0 : 12.0;
    own(model).running = Tensor::scalar(found);
    own(model).weight->grad = Tensor::scalar(found);
  });
  CHECK(own(replicas.model()).running.item() == 6.0);  // (2 + 4 + 12) / 3
  CHECK(own(replicas.model()).weight->grad.item() == 18.0);
  // One copy alone keeps what it found.
  replicas.run_backward(1, [&](std::size_t, Module& model) {
    own(model).running = Tensor::scalar(7.0);
    own(model).weight->grad = Tensor::scalar(1.0);
  });
  CHECK(own(replicas.model()).running.item() == 7.0);
  CHECK(own(replicas.model()).weight->grad.item() == 1.0);
}
