#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "experiments/lab/results/table.hpp"
#include "experiments/lab/training/training.hpp"

namespace normlab {

// The options under the keys of the command line.
nlohmann::ordered_json json_of(const TrainingOptions& options);

// Records in files. Reading gives the same doubles back, and throws std::exception of some kind for
// anything else. A divergence is null if there is none.
nlohmann::ordered_json json_of(const EpochRecord& record);
EpochRecord epoch_from(const nlohmann::ordered_json& json);
nlohmann::ordered_json json_of(const TrainingResult& result);
TrainingResult training_from(const nlohmann::ordered_json& json);

// The same as columns of tables, and what stands in them. Those of a divergence are in JSON only,
// under diverged_step, diverged_loss, ..., and null if there is none.
std::vector<lab::Column> epoch_columns();
lab::Row epoch_cells(const EpochRecord& record);
std::vector<lab::Column> divergence_columns();
lab::Row divergence_cells(const std::optional<Divergence>& divergence);

// A checkpoint's metadata entry, given to `parse`. Throws std::runtime_error if it is missing, is
// no JSON, or holds anything that `parse` refuses.
void read_entry(const Safetensors& checkpoint, const std::string& key, const std::string& program,
                const std::string& source,
                const std::function<void(const nlohmann::ordered_json&)>& parse);
[[noreturn]] void fail_checkpoint(const std::string& program, const std::string& source,
                                  const std::string& problem);

}  // namespace normlab
