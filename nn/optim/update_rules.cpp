// Tested by tests/nn/optim/optimizer_test.cpp against PyTorch.
#include "nn/optim/update_rules.hpp"

#include <cmath>
#include <string>

#include "core/check.hpp"

namespace normlab {

namespace {

// g + decay * w. Without decay it is g even where w is infinite, since 0 * infinity is NaN.
double with_decay(double g, double decay, double w) { return decay == 0.0 ? g : g + decay * w; }

void step(const Sgd& rule, double lr, Parameter& parameter, Moments& moments) {
  const std::int64_t n = parameter.value.numel();
  const double* g = parameter.grad.data();
  double* w = parameter.value.mutable_data();
  const double decay = rule.weight_decay;
  if (rule.momentum == 0.0) {
    for (std::int64_t i = 0; i < n; ++i) w[i] -= lr * with_decay(g[i], decay, w[i]);
    return;
  }
  const bool starts = !moments.first.defined();
  if (starts) moments.first = Tensor::zeros(parameter.value.shape());
  double* b = moments.first.mutable_data();
  const double share = starts ? 1.0 : 1.0 - rule.dampening;
  const double gradient_factor = rule.nesterov ? 1.0 : 0.0;
  const double buffer_factor = rule.nesterov ? rule.momentum : 1.0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double gradient = with_decay(g[i], decay, w[i]);
    b[i] = rule.momentum * b[i] + share * gradient;
    w[i] -= lr * (gradient_factor * gradient + buffer_factor * b[i]);
  }
}

// Pointers to everything that one pass over a parameter reads and writes; makes m and v if this is
// the parameter's first step.
struct AdamPass {
  AdamPass(Parameter& parameter, Moments& moments) {
    if (!moments.first.defined()) {
      moments.first = Tensor::zeros(parameter.value.shape());
      moments.second = Tensor::zeros(parameter.value.shape());
    }
    n = parameter.value.numel();
    g = parameter.grad.data();
    w = parameter.value.mutable_data();
    m = moments.first.mutable_data();
    v = moments.second.mutable_data();
  }
  std::int64_t n;
  const double* g;
  double *w, *m, *v;
};

double bias_correction(double beta, std::int64_t t) {
  return 1.0 - std::pow(beta, static_cast<double>(t));
}

// The larger of two squares, NaN if either is: std::max would drop it.
double larger(double a, double b) { return a >= b || std::isnan(a) ? a : b; }

// Adam and AdamW differ in where the decay acts: on the gradient, or on the weight as w <- keep *
// w.
template <typename Rule>
void adam_step(const Rule& rule, double coupled_decay, double keep, double lr, Parameter& parameter,
               Moments& moments) {
  const AdamPass pass(parameter, moments);
  if (rule.amsgrad && !moments.largest.defined()) {
    moments.largest = Tensor::zeros(parameter.value.shape());
  }
  double* largest = rule.amsgrad ? moments.largest.mutable_data() : nullptr;
  const double rate = lr / bias_correction(rule.beta1, moments.step);
  const double root_of_correction = std::sqrt(bias_correction(rule.beta2, moments.step));
  // Local copies, which no store through a pointer can change; otherwise the compiler generates no
  // SIMD code.
  const auto [n, g, w, m, v] = pass;
  const double beta1 = rule.beta1, beta2 = rule.beta2, eps = rule.eps;
  for (std::int64_t i = 0; i < n; ++i) {
    const double gradient = with_decay(g[i], coupled_decay, w[i]);
    m[i] = beta1 * m[i] + (1.0 - beta1) * gradient;
    v[i] = beta2 * v[i] + (1.0 - beta2) * gradient * gradient;
    double square = v[i];
    if (largest != nullptr) square = largest[i] = larger(largest[i], square);
    w[i] = keep * w[i] - rate * m[i] / (std::sqrt(square) / root_of_correction + eps);
  }
}

void step(const Adam& rule, double lr, Parameter& parameter, Moments& moments) {
  adam_step(rule, rule.weight_decay, 1.0, lr, parameter, moments);
}

void step(const AdamW& rule, double lr, Parameter& parameter, Moments& moments) {
  adam_step(rule, 0.0, 1.0 - lr * rule.weight_decay, lr, parameter, moments);
}

void step(const RAdam& rule, double lr, Parameter& parameter, Moments& moments) {
  const AdamPass pass(parameter, moments);
  const double r = radam_rectification(rule.beta2, moments.step);
  const double rate = lr / bias_correction(rule.beta1, moments.step);
  const double adaptive_rate = rate * r * std::sqrt(bias_correction(rule.beta2, moments.step));
  for (std::int64_t i = 0; i < pass.n; ++i) {
    const double gradient = with_decay(pass.g[i], rule.weight_decay, pass.w[i]);
    pass.m[i] = rule.beta1 * pass.m[i] + (1.0 - rule.beta1) * gradient;
    pass.v[i] = rule.beta2 * pass.v[i] + (1.0 - rule.beta2) * gradient * gradient;
    const double factor = r > 0.0 ? adaptive_rate / (std::sqrt(pass.v[i]) + rule.eps) : rate;
    pass.w[i] -= factor * pass.m[i];
  }
}

void check_options(const Sgd& rule) {
  check_at_least("Sgd", "momentum", rule.momentum, 0.0);
  check_at_least("Sgd", "weight_decay", rule.weight_decay, 0.0);
  check(std::isfinite(rule.dampening), "Sgd", "dampening", "must be finite",
        [&] { return std::to_string(rule.dampening); });
  check(!rule.nesterov || (rule.momentum > 0.0 && rule.dampening == 0.0), "Sgd", "nesterov",
        "must come with a momentum and without dampening", [&] {
          return "momentum " + std::to_string(rule.momentum) + ", dampening " +
                 std::to_string(rule.dampening);
        });
}

template <typename AdamLike>
void check_options(const AdamLike& rule) {
  constexpr std::string_view op = "Adam, AdamW, RAdam";
  for (const double beta : {rule.beta1, rule.beta2}) {
    check(beta >= 0.0 && beta < 1.0, op, "beta1, beta2", "must be at least 0 and below 1",
          [&] { return std::to_string(beta); });
  }
  check_at_least(op, "eps", rule.eps, 0.0);
  check_at_least(op, "weight_decay", rule.weight_decay, 0.0);
}

}  // namespace

double radam_rectification(double beta2, std::int64_t step) {
  const auto t = static_cast<double>(step);
  const double power = std::pow(beta2, t);
  const double rho_inf = 2.0 / (1.0 - beta2) - 1.0;
  const double rho = rho_inf - 2.0 * t * power / (1.0 - power);
  if (!(rho > 5.0)) return 0.0;
  return std::sqrt((rho - 4.0) * (rho - 2.0) * rho_inf / ((rho_inf - 4.0) * (rho_inf - 2.0) * rho));
}

void check_rule(const UpdateRule& rule) {
  std::visit([](const auto& alternative) { check_options(alternative); }, rule);
}

void update(const UpdateRule& rule, double lr, Parameter& parameter, Moments& moments) {
  ++moments.step;
  std::visit([&](const auto& alternative) { step(alternative, lr, parameter, moments); }, rule);
}

}  // namespace normlab
