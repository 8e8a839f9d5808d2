#pragma once

#include <cstdint>

#include "experiments/theory/mean_field_theory.hpp"
#include "experiments/untrained/encoder_model.hpp"

// What the theory predicts, measured on one untrained network.
namespace normlab {

struct MeanFieldMeasurement {
  PairMoments input;                   // x . x' / d
  std::vector<BlockMoments> blocks{};  // after_attention stays 0 where it cannot be seen
  std::vector<double> last_sizes{};    // |x|^2 / d of each token after the last ffn
  // Empty without a backward pass:
  PairMoments output_gradient{};
  SquaredNorms gradients{};
};

enum class Passes { forward, forward_and_backward };

// The simplified transformer on Gaussian tokens whose moments are setting.input. Pure: the same
// setting and seed give the same bits on any thread.
MeanFieldMeasurement measure_simplified(const MeanFieldSetting& setting, std::uint64_t seed,
                                        Passes passes = Passes::forward_and_backward);

// The transformer of init_gradients on digits: the theory's assumptions do not hold.
MeanFieldMeasurement measure_encoder(const EncoderModel::Config& config, Placement placement,
                                     std::int64_t layers, std::uint64_t seed, const Tokens& tokens);

// The theory's closest setting to it: random queries and keys count as uniform attention, and all
// tokens as alike, with the mean moments of the `input`.
MeanFieldSetting setting_of_encoder(const EncoderModel::Config& config, Placement placement,
                                    std::int64_t layers, const Tokens& tokens,
                                    const PairMoments& input);

}  // namespace normlab
