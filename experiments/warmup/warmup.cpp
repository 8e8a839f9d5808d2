// What became of the runs. Tested by tests/experiments/warmup/warmup_test.cpp.
#include "experiments/warmup/warmup.hpp"

namespace normlab::warmup {

Outcome outcome(const Point& point) {
  if (point.trained.diverged) return Outcome::diverged;
  const double loss = point.trained.epochs.back().test_loss;
  return loss <= kStuck * point.chance_loss ? Outcome::learned : Outcome::stuck;
}

const char* name(Outcome outcome) {
  switch (outcome) {
    case Outcome::learned:
      return "learned";
    case Outcome::stuck:
      return "stuck";
    case Outcome::diverged:
      return "diverged";
  }
  return "";
}

double accuracy(const Point& point) {
  return point.trained.diverged ? 0.0 : point.trained.epochs.back().test_accuracy;
}

std::vector<Group> groups(const Measured& measured) {
  std::vector<Group> all;
  const std::size_t seeds = measured.options.seeds.size();
  for (std::size_t first = 0; first < measured.points.size(); first += seeds) {
    Group group{measured.points[first].configuration, {}};
    std::vector<double> accuracies;
    for (std::size_t i = first; i < first + seeds; ++i) {
      const Point& point = measured.points[i];
      accuracies.push_back(accuracy(point));
      group.stuck += outcome(point) == Outcome::stuck;
      group.diverged += outcome(point) == Outcome::diverged;
      ++group.runs;
    }
    group.accuracy = spread(accuracies);
    all.push_back(group);
  }
  return all;
}

}  // namespace normlab::warmup
