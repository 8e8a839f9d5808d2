#pragma once

#include "experiments/lab/results/results.hpp"
#include "experiments/tasks/digits_task.hpp"

namespace normlab::train_digits {

using Options = TrainDigitsOptions;

lab::Results results(const Options& options, const TrainingResult& trained);

// The program: 0; 2 for bad usage; 3 if the training diverged.
int main(int argc, const char* const* argv);

}  // namespace normlab::train_digits
