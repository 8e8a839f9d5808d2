#pragma once

#include <nlohmann/json_fwd.hpp>

#include "experiments/train_digits.hpp"

namespace normlab {

// The options under their names on the command line, without the dashes; and back. `parse` throws
// std::exception of some kind for anything else.
nlohmann::ordered_json json_of(const TrainDigitsOptions& options);
TrainDigitsOptions parse_options(const nlohmann::ordered_json& json);

nlohmann::ordered_json json_of(const EpochRecord& record);
EpochRecord parse_record(const nlohmann::ordered_json& json);

}  // namespace normlab
