#pragma once

#include <functional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "experiments/lab/training/training.hpp"

namespace normlab {

// The options under their names on the command line, without the dashes; and back. `parse` throws
// std::exception of some kind for anything else.
nlohmann::ordered_json json_of(const TrainingOptions& options);
TrainingOptions parse_training_options(const nlohmann::ordered_json& json,
                                       const std::string& program);

nlohmann::ordered_json json_of(const EpochRecord& record);
EpochRecord parse_record(const nlohmann::ordered_json& json);

// Null if there is none.
nlohmann::ordered_json json_of(const std::optional<Divergence>& divergence);
// Epochs, and the divergence or null; and back, bit for bit.
nlohmann::ordered_json json_of(const TrainingResult& result);
TrainingResult parse_result(const nlohmann::ordered_json& json);
// The document that a training program writes.
nlohmann::ordered_json json_of(const std::string& program, const nlohmann::ordered_json& config,
                               const TrainingResult& result);

// A checkpoint's metadata entry, given to `parse`. Throws std::runtime_error if it is missing, is
// no JSON, or holds anything that `parse` refuses.
void read_entry(const Safetensors& checkpoint, const std::string& key, const std::string& program,
                const std::string& source,
                const std::function<void(const nlohmann::ordered_json&)>& parse);
[[noreturn]] void fail_checkpoint(const std::string& program, const std::string& source,
                                  const std::string& problem);

}  // namespace normlab
