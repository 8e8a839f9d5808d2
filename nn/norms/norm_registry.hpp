#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "nn/norm_factory.hpp"
#include "nn/registry.hpp"

namespace normlab {

// Properties of a norm f of x (N, T, d) at its initialization, in train mode and up to eps. Both
// directions are tested: declared properties must hold, the others must fail.
struct NormProperties {
  bool shift_invariant = false;          // f(x + c 1) = f(x) for any number c per token
  bool scale_invariant = false;          // f(s x) = f(x) for any s > 0 per token
  bool odd = false;                      // f(-x) = -f(x)
  bool token_independent = false;        // a token's output depends on no other token
  bool batch_independent = false;        // a sequence's output depends on no other sequence
  bool feature_independent = false;      // a feature's output depends on no other feature
  bool permutation_equivariant = false;  // permuting the features permutes the output
  bool running_statistics = false;       // eval mode uses statistics collected in train mode
};

struct NormEntry {
  std::string name;         // as on the command line: "layernorm"
  std::string description;  // one line
  std::string equation;     // plain text
  std::string statistics;   // which elements of (N, T, d) share a mean, variance or size
  // A new layer with this eps; not set: the layer's default. Layers without an eps ignore it.
  std::function<std::unique_ptr<Layer>(std::int64_t width, std::optional<double> eps)> make;
  NormProperties properties{};
  // The reference implementation: the same function in primitive ops, with the same parameter
  // names. For a norm whose layer has a backward of its own; the conformance suite compares the
  // two.
  std::function<std::unique_ptr<Layer>(std::int64_t width, std::optional<double> eps)> reference{};

  NormFactory factory(std::optional<double> eps = std::nullopt) const {
    return [make = make, eps](std::int64_t width) { return make(width, eps); };
  }
};

namespace nn {

// Every norm that the experiments and the conformance suite know, each a layer
// (N, T, d) -> (N, T, d). A program adds its own before it calls an experiment:
//
//   nn::norms().add({.name = "mynorm", .description = "...", .equation = "...", .statistics =
//   "...",
//                    .make = [](std::int64_t width, std::optional<double> eps) { ... }});
Registry<NormEntry>& norms();

}  // namespace nn

}  // namespace normlab
