#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nn/conformance/conformance.hpp"

// What the parts of check_norm share.
namespace normlab::conformance {

class Report {
 public:
  void add(const std::string& property, const std::string& input, bool passed,
           const std::string& measured) {
    results_.push_back({property, input, passed, measured});
  }
  // Passes if value <= bound; NaN fails.
  void add_at_most(const std::string& property, const std::string& input, double value,
                   double bound);
  // Runs a part of the checks, which adds results; an exception becomes a failed result.
  void guarded(const std::string& property, const std::string& input,
               const std::function<void()>& part);

  const std::vector<CheckResult>& results() const { return results_; }

 private:
  std::vector<CheckResult> results_;
};

void check_module(const NormEntry& entry, Report& report);
void check_gradients(const NormEntry& entry, Report& report);
void check_invariances(const NormEntry& entry, Report& report);
void check_edge_cases(const NormEntry& entry, Report& report);
void check_nan(const NormEntry& entry, Report& report);
void check_modes(const NormEntry& entry, Report& report);
void check_reference(const NormEntry& entry, Report& report);

// A new layer. with_random_parameters moves every parameter away from its initial value: a layer
// that ignores a weight of one or a bias of zero would otherwise pass.
using MakeNorm = decltype(NormEntry::make);
std::unique_ptr<Layer> make_layer(const MakeNorm& make, std::int64_t width,
                                  std::optional<double> eps = std::nullopt);
std::unique_ptr<Layer> with_random_parameters(const MakeNorm& make, std::int64_t width,
                                              std::optional<double> eps = std::nullopt);

// Normal numbers moved 0.3 away from zero, times `size`. No token is so short that a usual eps
// matters.
Tensor well_scaled_input(const Shape& shape, std::uint64_t seed = 1, double size = 1.0);

Tensor evaluate(Layer& layer, const Tensor& x);

// The layer's value, and the gradients of <value, r> with a fixed random r. A gradient that does
// not exist is an undefined tensor.
struct Pass {
  Tensor value, input_gradient;
  std::vector<std::pair<std::string, Tensor>> parameter_gradients;
};
Pass run_pass(Layer& layer, const Tensor& x);

// |a - b| / max(|a|, |b|) in the norm of the whole tensor, 0 where both are 0; infinite if the
// shapes differ or there is a NaN.
double distance(const Tensor& a, const Tensor& b);

// f(n, t, j, element) for every element of x (N, T, d).
template <typename F>
Tensor map_tokens(const Tensor& x, F f) {
  Tensor y = Tensor::uninitialized(x.shape());
  double* out = y.mutable_data();
  const std::int64_t tokens = x.shape()[1], width = x.width();
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const std::int64_t token = i / width;
    out[i] = f(token / tokens, token % tokens, i % width, x.data()[i]);
  }
  return y;
}

}  // namespace normlab::conformance
