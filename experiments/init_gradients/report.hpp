#pragma once

#include "experiments/init_gradients/init_gradients.hpp"
#include "experiments/lab/report/report.hpp"

namespace normlab {

// The page of --report; its figures are those of --figures. `command` is the one that made it.
Report report_of(const InitGradientsResult& result, const std::string& command);

// A part of it.
std::vector<Figure> figures_of(const InitGradientsResult& result);

}  // namespace normlab
