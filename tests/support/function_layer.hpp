#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/ops/rms_norm.hpp"
#include "nn/norms/norm_registry.hpp"

// Layers made of a function, for the tests of the conformance suite.
namespace normlab {

// A layer made of one function of its input and parameters.
class FunctionLayer : public Layer {
 public:
  using Forward = std::function<Var(FunctionLayer&, const Var&)>;
  FunctionLayer(std::int64_t width, const std::vector<std::string>& names, Forward forward)
      : forward_(std::move(forward)) {
    for (const std::string& name : names) register_parameter(name, Tensor::ones({width}));
  }
  Var forward(const Var& x) override { return forward_(*this, x); }
  Var watch(const Var& x, const std::string& name) { return x.tape().watch(parameter(name)); }

  int calls = 0;  // for layers that remember

 private:
  Forward forward_;
};

// An entry for a FunctionLayer. The parameters have the layer's width and start at one; eps is
// ignored.
inline NormEntry make_entry(const FunctionLayer::Forward& forward, const NormProperties& properties,
                            const std::vector<std::string>& names = {"weight"}) {
  return {.name = "tested",
          .description = "a layer of a test",
          .equation = "y = ?",
          .statistics = "?",
          .make =
              [forward, names](std::int64_t width, std::optional<double>) {
                return std::make_unique<FunctionLayer>(width, names, forward);
              },
          .properties = properties};
}

// A correct RMSNorm.
inline Var apply_rms_norm(FunctionLayer& layer, const Var& x) {
  return rms_norm(x, {x.value().width()}, layer.watch(x, "weight"), 1e-5);
}

inline NormProperties rms_norm_properties() { return nn::norms().at("rmsnorm").properties; }

}  // namespace normlab
