#include "nn/optim/optimizer.hpp"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "nn/layers/linear.hpp"
#include "nn/norms/layer_norm.hpp"
#include "tests/support/module_checks.hpp"

using namespace normlab;

namespace {

UpdateRule make_rule(const FixtureCase& fixture) {
  const auto number = [&](const char* key, double fallback) {
    return fixture.option_or(key, fallback);
  };
  const auto flag = [&](const char* key) { return fixture.option_or(key, false); };
  if (fixture.kind == "sgd") {
    return Sgd{number("momentum", Sgd{}.momentum), number("dampening", Sgd{}.dampening),
               number("weight_decay", Sgd{}.weight_decay), flag("nesterov")};
  }
  const Adam own;
  const double beta1 = number("beta1", own.beta1), beta2 = number("beta2", own.beta2),
               eps = number("eps", own.eps);
  if (fixture.kind == "adam") {
    return Adam{beta1, beta2, eps, number("weight_decay", own.weight_decay), flag("amsgrad")};
  }
  if (fixture.kind == "adam_w") {
    return AdamW{beta1, beta2, eps, number("weight_decay", AdamW{}.weight_decay), flag("amsgrad")};
  }
  REQUIRE(fixture.kind == "radam");
  return RAdam{beta1, beta2, eps, number("weight_decay", RAdam{}.weight_decay)};
}

// The two parameters of a fixture and their gradients (optimizer_cases.py).
struct Run {
  explicit Run(const FixtureCase& fixture)
      : noise_w(tensor_of(fixture.input("noise_w"))),
        noise_b(tensor_of(fixture.input("noise_b"))),
        w{"w", tensor_of(fixture.input("w"))},
        b{"b", tensor_of(fixture.input("b"))} {}

  std::vector<ParameterGroup> groups(const FixtureCase& fixture) {
    std::vector<ParameterGroup> both{{{&w}}, {{&b}}};
    if (fixture.has_option("b_weight_decay")) {
      both[1].weight_decay = fixture.option<double>("b_weight_decay");
    }
    return both;
  }

  void set_gradients(std::int64_t t) {
    w.grad = gradient(w.value, noise_w, t);
    b.grad = t == 3 || t == 4 ? Tensor() : gradient(b.value, noise_b, t);
  }

  static Tensor gradient(const Tensor& value, const Tensor& noise, std::int64_t t) {
    Tensor result = value;
    double* g = result.mutable_data();
    for (std::int64_t i = 0; i < value.numel(); ++i) {
      g[i] = 0.7 * g[i] + noise.data()[t % 7 * value.numel() + i];
    }
    return result;
  }

  Tensor noise_w, noise_b;
  Parameter w, b;
};

Parameter with_gradient(double value, double gradient) {
  return {"w", Tensor::scalar(value), Tensor::scalar(gradient)};
}

// The value of one parameter after a step with each of these gradients.
double after(const UpdateRule& rule, double lr, double value,
             const std::vector<double>& gradients) {
  Parameter w = with_gradient(value, 0.0);
  Optimizer optimizer(std::vector<Parameter*>{&w}, rule);
  for (const double gradient : gradients) {
    w.grad = Tensor::scalar(gradient);
    optimizer.step(lr);
  }
  return w.value.item();
}

}  // namespace

TEST_CASE("Optimizer: SGD, Adam, AdamW and RAdam are PyTorch's over 50 steps") {
  int seen = 0;
  for (const char* kind : {"sgd", "adam", "adam_w", "radam"}) {
    for (const FixtureCase& fixture : load_fixture_cases("optimizers.json", kind)) {
      CAPTURE(fixture.name);
      Run run(fixture);
      Optimizer optimizer(run.groups(fixture), make_rule(fixture));
      for (std::int64_t t = 1; t <= 50; ++t) {
        run.set_gradients(t);
        optimizer.step(fixture.option<double>("lr"));
        const std::string number = std::to_string(t);
        if (find_tensor(fixture.outputs, "w_" + number) == nullptr) continue;
        CAPTURE(t);
        CHECK(relative_error(run.w.value, tensor_of(fixture.output("w_" + number))) <= 1e-12);
        CHECK(relative_error(run.b.value, tensor_of(fixture.output("b_" + number))) <= 1e-12);
        ++seen;
      }
    }
  }
  CHECK(seen == 22 * 10);
}

TEST_CASE("Optimizer: a state that is saved and loaded continues bit for bit") {
  for (const char* kind : {"sgd", "adam", "adam_w", "radam"}) {
    for (const FixtureCase& fixture : load_fixture_cases("optimizers.json", kind)) {
      CAPTURE(fixture.name);
      Run whole(fixture), first(fixture);
      Optimizer uninterrupted(whole.groups(fixture), make_rule(fixture));
      const auto steps = [&](Run& run, Optimizer& optimizer, std::int64_t from, std::int64_t to) {
        for (std::int64_t t = from; t <= to; ++t) {
          run.set_gradients(t);
          optimizer.step(0.05);
        }
      };
      steps(whole, uninterrupted, 1, 12);
      NamedTensors saved;
      {
        Optimizer before(first.groups(fixture), make_rule(fixture));
        steps(first, before, 1, 5);
        saved = before.state();
      }
      Optimizer resumed(first.groups(fixture), make_rule(fixture));
      resumed.load_state(saved);
      steps(first, resumed, 6, 12);
      CHECK(max_abs_difference(first.w.value, whole.w.value) == 0.0);
      CHECK(max_abs_difference(first.b.value, whole.b.value) == 0.0);
    }
  }
}

TEST_CASE("Optimizer: the first steps by hand, with eps added after the bias correction") {
  // m / (1 - 0.9) = g and sqrt(v / (1 - 0.999)) = |g|: g / (|g| + eps), whatever the size of g.
  CHECK(std::abs(after(Adam{}, 1.0, 0.0, {1e-8}) + 0.5) <= 1e-12);
  CHECK(std::abs(after(Adam{}, 1e-3, 2.0, std::vector<double>(100, 3.0)) - 1.9) <= 1e-8);
  // RAdam is momentum without the root for five steps, and rectified from the sixth on.
  CHECK(std::abs(after(RAdam{}, 0.1, 0.0, std::vector<double>(5, 1e-3)) + 5e-4) <= 1e-15);
  for (std::int64_t t = 1; t <= 5; ++t) CHECK(radam_rectification(0.999, t) == 0.0);
  CHECK(std::abs(radam_rectification(0.999, 6) - 0.0258211) <= 1e-7);
  const double sixth = after(RAdam{}, 0.1, 0.0, std::vector<double>(6, 1e-3)) + 5e-4;
  CHECK(std::abs(sixth + 0.1 * 0.0258211) <= 1e-6);
  CHECK(radam_rectification(0.99, 100000) > 0.99);
  // Decoupled decay moves the weight even where the gradient is zero, coupled decay by lr itself.
  CHECK(after(AdamW{.weight_decay = 0.5}, 0.1, 1.0, {0.0}) == 0.95);
  CHECK(std::abs(after(Adam{.weight_decay = 0.5}, 0.1, 1.0, {0.0}) - 0.9) <= 1e-8);
}

TEST_CASE("Optimizer: weight decay acts on matrices, not on norms and biases of any shape") {
  Generator generator(1);
  struct Model : Module {
    explicit Model(Generator& random)
        : linear(register_module("linear", std::make_unique<Linear>(3, 2, random))),
          norm(register_module("norm", std::make_unique<LayerNorm>(Shape{3, 4}))) {}
    Linear& linear;
    LayerNorm& norm;
  } model(generator);
  const auto groups = groups_without_decay_on_norms(model);
  REQUIRE(groups.size() == 2);
  REQUIRE(groups[0].parameters.size() == 1);
  CHECK(groups[0].parameters[0]->name == "linear.weight");
  CHECK(groups[1].parameters.size() == 3);

  const Tensor matrix = model.linear.weight.value;
  for (Parameter* parameter : model.parameters()) {
    parameter->grad = Tensor::zeros(parameter->value.shape());
  }
  Optimizer optimizer(groups, AdamW{.weight_decay = 0.5});
  optimizer.step(0.1);
  CHECK(std::abs(norm(model.linear.weight.value) / norm(matrix) - 0.95) <= 1e-15);
  CHECK(max_abs_difference(model.norm.weight->value, Tensor::ones({3, 4})) == 0.0);
}

TEST_CASE("Optimizer: a parameter without gradient stays as it is and counts no step") {
  Parameter moved = with_gradient(1.0, 1.0), still{"still", Tensor::scalar(1.0)};
  Optimizer optimizer(std::vector<Parameter*>{&moved, &still}, Sgd{});
  optimizer.step(0.5);
  CHECK(moved.value.item() == 0.5);
  CHECK(still.value.item() == 1.0);
  CHECK(find_tensor(optimizer.state(), "still.step") == nullptr);
  CHECK(find_tensor(optimizer.state(), "w.step")->item() == 1.0);
  CHECK(moved.grad.item() == 1.0);
}

TEST_CASE("Optimizer: without weight decay an infinite weight stays infinite") {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const UpdateRule& rule :
       {UpdateRule(Sgd{}), UpdateRule(Sgd{.momentum = 0.9}), UpdateRule(Adam{}),
        UpdateRule(AdamW{.weight_decay = 0.0}), UpdateRule(RAdam{})}) {
    CHECK(after(rule, 0.1, infinity, {1.0, 1.0}) == infinity);
  }
}

TEST_CASE("update: the maximum of amsgrad is NaN from the first NaN on") {
  Parameter w = with_gradient(1.0, 1.0);
  Moments moments;
  const UpdateRule rule = Adam{.amsgrad = true};
  update(rule, 0.1, w, moments);
  w.grad = Tensor::scalar(std::nan(""));
  update(rule, 0.1, w, moments);
  CHECK(std::isnan(moments.largest.item()));
  moments.second = Tensor::scalar(1.0);
  w.grad = Tensor::scalar(1.0);
  update(rule, 0.1, w, moments);
  CHECK(std::isnan(moments.largest.item()));
}

TEST_CASE("Optimizer: micro-batches seeded by their share give the gradient of the mean") {
  // Losses 1, 1, 1 and 4, as w^T x of one weight: the mean is 7 / 4, the mean of means 5 / 2.
  Generator generator(1);
  Linear linear(1, 1, generator, {.bias = false});
  const auto pass = [&](const Tensor& x, double share) {
    Tape tape;
    tape.backward(linear.forward(tape.constant(x)),
                  Tensor::full({x.shape()[0], 1}, share / static_cast<double>(x.shape()[0])));
  };
  pass(Tensor({3, 1}, {1, 1, 1}), 3.0 / 4.0);
  pass(Tensor({1, 1}, {4}), 1.0 / 4.0);
  CHECK(linear.weight.grad.item() == 1.75);
}
