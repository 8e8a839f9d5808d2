// What docs/discrepancy.md says in its answer, held against a run with seeds that its published
// run did not have. Minutes, so not part of the unit tests: ctest -L slow.
#include <algorithm>

#include <doctest/doctest.h>

#include "experiments/discrepancy/summary.hpp"

using namespace normlab;
using namespace normlab::discrepancy;

namespace {

Measured answer() {
  Options options;
  options.ablations.clear();
  const std::vector<std::string> names{"article",    "token_labels",    "classes_10k",
                                       "no_opinion", "cross_attention", "no_opinion_token_labels"};
  for (const Ablation& ablation : all_ablations()) {
    if (std::find(names.begin(), names.end(), ablation.name) != names.end()) {
      options.ablations.push_back(ablation);
    }
  }
  options.seeds.clear();
  for (std::uint64_t seed = 100; seed < 196; ++seed) options.seeds.push_back(seed);
  return measure(options, {.threads = 2});
}

}  // namespace

TEST_CASE("discrepancy, slow: the answer of docs/discrepancy.md holds for other seeds") {
  const Measured result = answer();
  const std::vector<Summary> rows = summaries(result);
  const auto row = [&](const std::string& ablation, Placement placement) {
    return *std::find_if(rows.begin(), rows.end(), [&](const Summary& other) {
      return other.ablation.name == ablation && other.placement == placement;
    });
  };
  constexpr double kErrors = 3.0;  // standard errors that a difference from zero must have

  // Depth: post-norm's last gradient grows, and whose labels they are does not matter.
  const Summary article = row("article", Placement::post);
  CHECK(article.exponent.mean > kErrors * article.exponent.error);
  const Summary own_labels = row("token_labels", Placement::post);
  CHECK(std::abs(own_labels.exponent_change.mean) < 0.05);
  // The growth needs a shared prediction, and tokens that become alike with depth.
  for (const char* ablation : {"classes_10k", "no_opinion", "cross_attention"}) {
    CAPTURE(ablation);
    const Estimate change = row(ablation, Placement::post).exponent_change;
    CHECK(change.mean < -kErrors * change.error);
  }
  CHECK(article.across_sequences > 0.7);
  CHECK(article.similarity_across > 0.9);
  // Theorem 1 in its clean form: an incoherent gradient that does not depend on depth.
  const Summary clean = row("no_opinion_token_labels", Placement::post);
  CHECK(clean.self > 0.8);
  CHECK(std::abs(clean.exponent.mean) < 0.1);
  // Layers: the profile is cross-attention's.
  CHECK(article.top_bottom.mean < 1.5);
  CHECK(row("cross_attention", Placement::post).top_bottom_factor.mean > 5.0);
  // Pre-norm falls with depth and with the layer, whatever is changed.
  for (const Ablation& ablation : result.options.ablations) {
    CAPTURE(ablation.name);
    const Summary pre = row(ablation.name, Placement::pre);
    CHECK(pre.exponent.mean < 0.0);
    CHECK(pre.top_bottom.mean + pre.top_bottom.error < 1.0);
  }
}
