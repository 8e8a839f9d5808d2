#pragma once

#include <nlohmann/json_fwd.hpp>

#include "experiments/lab/results/table.hpp"
#include "experiments/untrained/gradients.hpp"

namespace normlab {

// A measurement under the keys of every experiment's JSON: loss, w1_grad_norm, w2_grad_norm,
// in_proj_grad_norm, out_proj_grad_norm, stream_sq_norm_per_d. Reading gives the same doubles back;
// it throws std::runtime_error if a key is missing, is no number or list of numbers, or if the
// lists are not those of so many layers.
// The same as columns of a table, in JSON only, and what stands in them.
std::vector<lab::Column> measurement_columns();
lab::Row measurement_cells(const GradientMeasurement& measurement);

nlohmann::ordered_json json_of(const GradientMeasurement& measurement);
GradientMeasurement measurement_from(const nlohmann::ordered_json& json, std::int64_t layers);

}  // namespace normlab
