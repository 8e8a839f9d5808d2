#pragma once

#include "experiments/lab/report/report.hpp"
#include "experiments/lab/training/training.hpp"

namespace normlab {

// A line's part: optimizer, rate, schedule and seed.
std::string title_of(const TrainingOptions& options);
// "no warmup", or "warmup 100".
std::string warmup_text(std::int64_t warmup);
// A line.
std::string text_of(const Divergence& divergence);
// The table of epochs, with the divergence or the last accuracy under it.
std::string text_of(const TrainingResult& result);

void add_configuration(std::vector<std::pair<std::string, std::string>>& configuration,
                       const TrainingOptions& options);
// The page: learning curves and the table. `thing` is what a prediction is made of: "image".
Report training_report(const std::string& title, const std::string& command,
                       const std::vector<std::pair<std::string, std::string>>& configuration,
                       const TrainingResult& result, const std::string& thing);

}  // namespace normlab
