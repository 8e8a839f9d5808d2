#pragma once

#include <cstdint>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "experiments/discrepancy/configuration.hpp"
#include "experiments/lab/results/table.hpp"

// What is written of a setup and of a measurement: in tables, and in the log of finished
// configurations. Each field is listed once.
namespace normlab::discrepancy {

std::vector<lab::Column> setup_columns();
lab::Row setup_cells(const Setup& setup);
nlohmann::ordered_json json_of(const Setup& setup);

std::vector<lab::Column> measurement_columns();
lab::Row measurement_cells(const Measurement& measurement);
nlohmann::ordered_json json_of(const Measurement& measurement);
// Gives every bit back. Throws std::runtime_error unless each field is there and is a number, or a
// list of numbers for so many layers.
Measurement measurement_from(const nlohmann::ordered_json& json, std::int64_t layers);

}  // namespace normlab::discrepancy
