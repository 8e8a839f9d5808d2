#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "nn/norm_factory.hpp"
#include "nn/registry.hpp"

namespace normlab {

// What a norm f promises of x (N, T, d) at its initialization, in train mode and up to eps. Each
// promise that is made is tested, and each one that is not made is shown not to hold.
struct NormProperties {
  bool shift_invariant = false;          // f(x + c 1) = f(x) for any number c per token
  bool scale_invariant = false;          // f(s x) = f(x) for any s > 0 per token
  bool odd = false;                      // f(-x) = -f(x)
  bool token_independent = false;        // a token's output depends on no other token
  bool batch_independent = false;        // a sequence's output depends on no other sequence
  bool feature_independent = false;      // a feature's output depends on no other feature
  bool permutation_equivariant = false;  // permuting the features permutes the output
  bool running_statistics = false;       // evaluation normalizes by what train mode has gathered
};

struct NormEntry {
  std::string name;         // as on the command line: "layernorm"
  std::string description;  // one line: what it is for
  std::string equation;     // plain text
  std::string statistics;   // which elements of (N, T, d) share a mean, variance or size
  // With eps, or the layer's own default. Layers without an eps ignore it.
  std::function<std::unique_ptr<Layer>(std::int64_t width, std::optional<double> eps)> make;
  NormProperties properties{};
  // The same function written in primitive ops, parameters under the same names, if `make` has a
  // backward of its own: the two are held against each other.
  std::function<std::unique_ptr<Layer>(std::int64_t width, std::optional<double> eps)> composed{};

  NormFactory factory(std::optional<double> eps = std::nullopt) const {
    return [make = make, eps](std::int64_t width) { return make(width, eps); };
  }
};

namespace nn {

// Every normalization layer known to the experiments and to the conformance suite, all in the form
// (N, T, d) -> (N, T, d). A program adds its own before it calls an experiment:
//
//   nn::norms().add({.name = "mynorm", .description = "...", .equation = "...", .statistics =
//   "...",
//                    .make = [](std::int64_t width, std::optional<double> eps) { ... }});
Registry<NormEntry>& norms();

}  // namespace nn

}  // namespace normlab
