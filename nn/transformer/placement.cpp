// Tested by tests/nn/transformer/placement_test.cpp.
#include "nn/transformer/placement.hpp"

namespace normlab {

namespace nn {

const Registry<PlacementEntry>& placements() {
  static const Registry<PlacementEntry> all = [] {
    Registry<PlacementEntry> built_in("placement");
    built_in.add({Placement::post, "post", "the stream itself is normalized after every sum",
                  "x <- norm(x + F(x))", false, true});
    built_in.add({Placement::pre, "pre", "what a branch reads is normalized, the stream never",
                  "x <- x + F(norm(x))", true});
    built_in.add({Placement::res_post, "res-post", "what a branch returns is normalized",
                  "x <- x + norm(F(x))", true});
    built_in.add({Placement::sandwich, "sandwich",
                  "what a branch reads and what it returns are normalized",
                  "x <- x + norm_out(F(norm(x)))", true});
    built_in.add({Placement::parallel, "parallel", "both branches read one normalized stream",
                  "x <- x + attention(norm(x)) + ffn(norm(x))", true});
    built_in.add({Placement::ada_ln_zero, "adaln-zero",
                  "pre-norm with scale, shift and gate from a condition; starts as the identity",
                  "x <- x + gate(c) * F((1 + scale(c)) * LN(x) + shift(c))", true});
    built_in.add({Placement::deep_norm, "deepnorm",
                  "post-norm with the stream enlarged for the depth L of the stack",
                  "x <- norm(alpha x + F(x)), alpha = (2 L)^(1/4)", false, true});
    built_in.add({Placement::re_zero, "rezero", "no norm; a gate per branch that starts at zero",
                  "x <- x + gate * F(x)", false});
    built_in.add({Placement::layer_scale, "layerscale", "pre-norm with a small gate per feature",
                  "x <- x + gate * F(norm(x)), gate a vector", true});
    return built_in;
  }();
  return all;
}

}  // namespace nn

const PlacementEntry& entry(Placement placement) {
  for (const PlacementEntry& candidate : nn::placements()) {
    if (candidate.placement == placement) return candidate;
  }
  fail("placement", "placement", "must be registered", std::to_string(static_cast<int>(placement)));
}

const std::string& name(Placement placement) { return entry(placement).name; }

std::string title(Placement placement) {
  const bool norm = placement == Placement::post || placement == Placement::pre;
  return name(placement) + (norm ? "-norm" : "");
}

bool ends_in_norm(FinalNorm final_norm, Placement placement) {
  if (final_norm == FinalNorm::as_placement_needs) return entry(placement).needs_final_norm;
  return final_norm == FinalNorm::on;
}

}  // namespace normlab
