// Tested through the programs by tests/experiments.
#include "experiments/lab/program/interrupt.hpp"

#include <csignal>

#include "experiments/lab/runs/jobs.hpp"

namespace normlab::lab {

namespace {

extern "C" void on_signal(int signal) {
  stop_jobs();
  std::signal(signal, SIG_DFL);
}

}  // namespace

InterruptHandler::InterruptHandler() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

InterruptHandler::~InterruptHandler() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace normlab::lab
