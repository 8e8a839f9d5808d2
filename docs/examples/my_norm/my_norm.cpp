// A norm of one's own, outside NormLab's tree: docs/adding-a-norm.md walks through this file.
//
//   y = weight * x / m,   m = <|x|> + eps
//
// <.> is the mean over the features of a token: RMSNorm with the mean magnitude in place of the
// root mean square, so that one large feature weighs less.
#include <cmath>
#include <cstdio>
#include <string>

#include "core/ops/arithmetic.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/reduce.hpp"
#include "experiments/all/run_program.hpp"
#include "nn/conformance/conformance.hpp"
#include "nn/norms/norm_registry.hpp"

using namespace normlab;

// In primitive ops: the tape derives the gradient.
class MeanAbsNorm : public Layer {
 public:
  MeanAbsNorm(std::int64_t width, double eps)
      : weight_(register_parameter("weight", Tensor::ones({width}))), eps_(eps) {}

  Var forward(const Var& x) override {
    return x.tape().watch(weight_) * (x / (mean(abs(x), {-1}, /*keepdim=*/true) + eps_));
  }

 private:
  Parameter& weight_;
  double eps_;
};

// The same as one op with a backward of its own. With g = dy the gradient that arrives and y = x/m:
//   dm = -<g y> d / m      and m depends on x_k through sign(x_k) / d, so that
//   dx = (g - sign(x) <g y>) / m
Var divide_by_mean_abs(const Var& x, double eps) {
  const Tensor input = x.value();
  const std::int64_t width = input.width(), tokens = width == 0 ? 0 : input.numel() / width;
  Tensor y = Tensor::uninitialized(input.shape());
  std::vector<double> sizes(static_cast<std::size_t>(tokens));  // m, one per token
  for (std::int64_t token = 0; token < tokens; ++token) {
    const double* in = input.data() + token * width;
    double* out = y.mutable_data() + token * width;
    double& m = sizes[static_cast<std::size_t>(token)];
    for (std::int64_t i = 0; i < width; ++i) m += std::abs(in[i]) / static_cast<double>(width);
    m += eps;
    for (std::int64_t i = 0; i < width; ++i) out[i] = in[i] / m;
  }

  Adjoint dx(x);
  return record("divide_by_mean_abs", Tensor(y), {x}, [=](const Tensor& dy) {
    Tensor to_x = Tensor::uninitialized(input.shape());
    for (std::int64_t token = 0; token < tokens; ++token) {
      const double* g = dy.data() + token * width;
      const double* out = y.data() + token * width;
      double* result = to_x.mutable_data() + token * width;
      double mean_g_y = 0.0;
      for (std::int64_t i = 0; i < width; ++i)
        mean_g_y += g[i] * out[i] / static_cast<double>(width);
      for (std::int64_t i = 0; i < width; ++i) {
        const double sign = out[i] > 0.0 ? 1.0 : out[i] < 0.0 ? -1.0 : 0.0;
        result[i] = (g[i] - sign * mean_g_y) / sizes[static_cast<std::size_t>(token)];
      }
    }
    dx += std::move(to_x);
  });
}

class FusedMeanAbsNorm : public Layer {
 public:
  FusedMeanAbsNorm(std::int64_t width, double eps)
      : weight_(register_parameter("weight", Tensor::ones({width}))), eps_(eps) {}

  Var forward(const Var& x) override {
    return x.tape().watch(weight_) * divide_by_mean_abs(x, eps_);
  }

 private:
  Parameter& weight_;
  double eps_;
};

// The layer's declared properties. Properties that are not declared must fail.
constexpr NormProperties kPromises{.scale_invariant = true,
                                   .odd = true,
                                   .token_independent = true,
                                   .batch_independent = true,
                                   .permutation_equivariant = true};

NormEntry reference_entry() {
  return {.name = "meanabs",
          .description = "MeanAbsNorm: every token brought to unit mean magnitude",
          .equation = "y = weight * x / (mean |x| + eps)",
          .statistics = "the d features of one token",
          .make =
              [](std::int64_t width, std::optional<double> eps) {
                return std::make_unique<MeanAbsNorm>(width, eps.value_or(1e-6));
              },
          .properties = kPromises};
}

// The layer in primitive ops stays as the reference implementation of the fused one.
NormEntry fused_entry() {
  NormEntry entry = reference_entry();
  entry.reference = entry.make;
  entry.name = "meanabs-fused";
  entry.make = [](std::int64_t width, std::optional<double> eps) {
    return std::make_unique<FusedMeanAbsNorm>(width, eps.value_or(1e-6));
  };
  return entry;
}

// Prints what the conformance suite says of an entry; returns whether all of it passed.
bool passes(const NormEntry& entry) {
  const std::vector<CheckResult> results = check_norm(entry);
  const std::string failed = failures(results);
  std::printf("%s: %zu checks, %s\n%s", entry.name.c_str(), results.size(),
              failed.empty() ? "all passed" : "failed:", failed.c_str());
  return failed.empty();
}

int main(int argc, char** argv) {
  nn::norms().add(reference_entry());
  nn::norms().add(fused_entry());
  if (argc == 2 && std::string(argv[1]) == "check") {
    const bool reference = passes(nn::norms().at("meanabs"));
    const bool fused = passes(nn::norms().at("meanabs-fused"));
    return reference && fused ? 0 : 1;
  }
  return run_program(argc, argv);
}
