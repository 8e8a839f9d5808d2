// What docs/discrepancy.md says in its answer, held against a run with seeds that its published
// run did not have. Minutes, so not part of the unit tests: ctest -L slow.
#include <algorithm>

#include <doctest/doctest.h>

#include "experiments/discrepancy/summary.hpp"

using namespace normlab;

namespace {

DiscrepancyResult answer() {
  DiscrepancyOptions options;
  options.rungs.clear();
  const std::vector<std::string> wanted{"article",    "token_labels",    "classes_10k",
                                        "no_opinion", "cross_attention", "no_opinion_token_labels"};
  for (const Rung& rung : ladder()) {
    if (std::find(wanted.begin(), wanted.end(), rung.name) != wanted.end()) {
      options.rungs.push_back(rung);
    }
  }
  options.seeds.clear();
  for (std::uint64_t seed = 100; seed < 196; ++seed) options.seeds.push_back(seed);
  return run_discrepancy(options, 2);
}

}  // namespace

TEST_CASE("discrepancy, slow: the answer of docs/discrepancy.md holds for other seeds") {
  const DiscrepancyResult result = answer();
  const std::vector<RungSummary> rows = summarize(result);
  const auto row = [&](const std::string& rung, Placement placement) {
    return *std::find_if(rows.begin(), rows.end(), [&](const RungSummary& each) {
      return each.rung.name == rung && each.placement == placement;
    });
  };
  constexpr double kErrors = 3.0;  // standard errors that a difference from zero must have

  // Depth: post-norm's last gradient grows, and whose labels they are does not matter.
  const RungSummary article = row("article", Placement::post);
  CHECK(article.exponent.mean > kErrors * article.exponent.error);
  const RungSummary own_labels = row("token_labels", Placement::post);
  CHECK(std::abs(own_labels.exponent_change.mean) < 0.05);
  // The growth needs a shared prediction, and tokens that become alike with depth.
  for (const char* rung : {"classes_10k", "no_opinion", "cross_attention"}) {
    CAPTURE(rung);
    const Estimate change = row(rung, Placement::post).exponent_change;
    CHECK(change.mean < -kErrors * change.error);
  }
  CHECK(article.across_sequences > 0.7);
  CHECK(article.similarity_across > 0.9);
  // Theorem 1 in its clean form: an incoherent gradient that does not depend on depth.
  const RungSummary clean = row("no_opinion_token_labels", Placement::post);
  CHECK(clean.self > 0.8);
  CHECK(std::abs(clean.exponent.mean) < 0.1);
  // Layers: the profile is cross-attention's.
  CHECK(article.top_bottom.mean < 1.5);
  CHECK(row("cross_attention", Placement::post).top_bottom_factor.mean > 5.0);
  // Pre-norm falls with depth and with the layer, whatever is changed.
  for (const Rung& rung : result.options.rungs) {
    CAPTURE(rung.name);
    const RungSummary pre = row(rung.name, Placement::pre);
    CHECK(pre.exponent.mean < 0.0);
    CHECK(pre.top_bottom.mean + pre.top_bottom.error < 1.0);
  }
}
