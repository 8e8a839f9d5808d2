#pragma once

namespace normlab::lab {

// While it lives, the first SIGINT or SIGTERM only asks the jobs to stop (see run_jobs); the second
// ends the program at once, as without a handler.
class InterruptHandler {
 public:
  InterruptHandler();
  ~InterruptHandler();
  InterruptHandler(const InterruptHandler&) = delete;
  InterruptHandler& operator=(const InterruptHandler&) = delete;
};

}  // namespace normlab::lab
