#pragma once

#include <cerrno>

namespace normlab {

// Calls a function of the operating system again while a signal interrupts it.
template <typename F>
auto retried(F call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace normlab
