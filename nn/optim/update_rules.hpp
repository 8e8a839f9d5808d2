#pragma once

#include <cstdint>
#include <variant>

#include "core/parameter.hpp"

// The update rules of torch.optim, under its names and with its defaults, except that the learning
// rate is an argument of the step, since it changes from step to step. There is no `maximize`.
//
// In the formulas w is a parameter, g its gradient, and t counts the steps of that parameter from
// 1. In Sgd, Adam and RAdam weight decay adds the gradient of (weight_decay / 2) |w|^2:
// g <- g + weight_decay * w, before anything else.
namespace normlab {

//   b <- momentum * b + (1 - dampening) * g;   in the first step b <- g, whatever the dampening
//   w <- w - lr * b,   with nesterov   w <- w - lr * (g + momentum * b)
// Without momentum there is no b, and w <- w - lr * g.
struct Sgd {
  double momentum = 0.0, dampening = 0.0, weight_decay = 0.0;
  bool nesterov = false;  // needs a momentum, and no dampening
};

// Kingma and Ba 2015. With m and v the exponential averages of g and g^2,
//   w <- w - lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + eps)
// eps is added after the bias correction of the root. With amsgrad the largest v so far replaces v
// (Reddi et al. 2018).
struct Adam {
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0.0;
  bool amsgrad = false;
};

// Adam with decoupled decay (Loshchilov and Hutter 2019): before the update w <- (1 - lr *
// weight_decay) * w, and g stays as it is.
struct AdamW {
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0.01;
  bool amsgrad = false;
};

// Liu et al. 2020. rho = rho_inf - 2 t beta2^t / (1 - beta2^t), rho_inf = 2 / (1 - beta2) - 1, is
// the number of gradients that v effectively averages over. While rho <= 5,
//   w <- w - lr / (1 - beta1^t) * m
// and from the first step with rho > 5 (step 6 for beta2 = 0.999)
//   w <- w - lr / (1 - beta1^t) * m * r * sqrt(1 - beta2^t) / (sqrt(v) + eps)
//   r = sqrt((rho - 4) (rho - 2) rho_inf / ((rho_inf - 4) (rho_inf - 2) rho))
// The threshold 5 is PyTorch's; the paper's is 4, which is reached one step earlier. As in PyTorch,
// eps is added before the bias correction of the root, so for small t the same eps has more weight
// than in Adam.
struct RAdam {
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0.0;
};

using UpdateRule = std::variant<Sgd, Adam, AdamW, RAdam>;

// r of the formula above, or 0 while rho <= 5.
double radam_rectification(double beta2, std::int64_t step);

// What a rule stores for one parameter; tensors are undefined before its first step.
struct Moments {
  std::int64_t step = 0;
  Tensor first{};    // b, or m
  Tensor second{};   // v
  Tensor largest{};  // amsgrad
};

// Throws std::invalid_argument for options out of range.
void check_rule(const UpdateRule& rule);
// One step of a parameter that has a gradient of its shape, in one pass over its elements. Unlike
// Optimizer::step it checks nothing.
void update(const UpdateRule& rule, double lr, Parameter& parameter, Moments& moments);

}  // namespace normlab
