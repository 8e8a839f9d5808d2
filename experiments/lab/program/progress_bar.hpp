#pragma once

#include <chrono>
#include <string_view>

namespace normlab {

// A line on the terminal's standard error with a bar and the time left; nothing if standard error
// is not a terminal. The line is wiped when the bar goes.
class ProgressBar {
 public:
  explicit ProgressBar(bool wanted);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // A note takes the room of most of the bar.
  void show(double done, double total, std::string_view note = {});
  void wipe();  // until the next show

 private:
  bool on_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace normlab
