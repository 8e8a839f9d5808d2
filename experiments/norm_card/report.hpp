#pragma once

#include "experiments/lab/report/report.hpp"
#include "experiments/norm_card/norm_card.hpp"

namespace normlab {

// One card, or all of them in one page: at least one. `command` is printed in the page.
std::vector<Figure> figures_of(const std::vector<NormCard>& cards);
Report report_of(const std::vector<NormCard>& cards, const std::string& command);

}  // namespace normlab
