#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/lab/results/results.hpp"
#include "experiments/lab/runs/run.hpp"
#include "nn/conformance/conformance.hpp"
#include "nn/norms/norm_registry.hpp"

namespace normlab::norm_card {

struct Options {
  std::vector<std::string> norms;  // names in nn::norms()
  std::int64_t width = 16;
  std::optional<double> eps{};  // none: each layer's own
};
Options everything_registered();

// Throws std::invalid_argument for an unknown norm, a width below 3 or an eps that a layer refuses.
void check(const Options& options);

// What a normalization layer does, measured in about a second: what is worth knowing before reading
// its paper. All at the layer's initialization, on random tokens with fixed seeds.
struct Card {
  NormEntry entry;
  std::int64_t width = 0;
  std::optional<double> eps;  // none: the layer's own

  std::vector<std::pair<std::string, Shape>> parameters;
  std::vector<MeasuredInvariance> invariances;  // by check_norm: at its sizes and the default eps

  // |f(s x)| / |f(x)| and the relative change |f(s x) - f(x)| / |f(x)|: how far eps (or the layer)
  // breaks scale invariance.
  struct ScaleEffect {
    double input_scale, size, change;
  };
  std::vector<ScaleEffect> scale_effects;  // input scales 1e-8 .. 1e8

  // The Jacobian of a token's output by that token, at a random token x.
  struct NullDirection {
    std::string name;  // "1", "x - mean(x)" or "x"
    double share;      // squared length of the unit direction inside the null space, 0 .. 1
  };
  std::int64_t null_dimension = 0;
  std::vector<NullDirection> null_space;
  // Lemma 3 of Xiong et al. (2020): the largest singular value times |y| / sqrt(d), y the centred
  // token, over input scales 1e-3 .. 1e3. 1 for LayerNorm, but for eps.
  struct LargestSingularValue {
    double input_scale, value, times_size;
  };
  std::vector<LargestSingularValue> largest_singular_values;
  // layernorm and convnext at eps 0: |J - sqrt(d)/|y| (I - yhat yhat^T)(I - 1 1^T/d)| / |J|.
  std::optional<double> closed_form_error;

  double gradient_error = 0.0;  // of nn/conformance/gradient_error.hpp
  // C2: largest |f(x) - LayerNorm(x)| on centred tokens, both with the same eps; nothing for layers
  // that compute neither LayerNorm nor RMSNorm.
  std::optional<double> c2;
};

struct Measured {
  Options options;
  std::vector<Card> cards;  // in the order of the options
};
// Shows progress norm by norm.
Measured measure(const Options& options, const lab::Run& run);

// The card where it is one, a table of them where there are several.
lab::Results results(const Measured& measured);
std::vector<Figure> figures(const std::vector<Card>& cards);  // a part of it

// The program: 0; 1 if a gradient or a declared invariance is wrong; 2 for bad usage.
int main(int argc, const char* const* argv);

}  // namespace normlab::norm_card
