#pragma once

#include "experiments/compare_norms/compare_norms.hpp"
#include "experiments/lab/report/report.hpp"

namespace normlab {

std::vector<Figure> figures_of(const CompareNormsResult& result);

// `command` is printed in the page.
Report report_of(const CompareNormsResult& result, const std::string& command);

}  // namespace normlab
