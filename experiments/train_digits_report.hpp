#pragma once

#include "experiments/report.hpp"
#include "experiments/train_digits.hpp"

namespace normlab {

Report report_of(const TrainDigitsResult& result, const std::string& command);

}  // namespace normlab
