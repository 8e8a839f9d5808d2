#include "experiments/lab/program/progress_bar.hpp"

#include <cmath>
#include <cstdio>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

namespace normlab {

namespace {

constexpr int kBarWidth = 40, kBarWidthBesideNote = 8;

std::string duration(double seconds) {
  const auto whole = static_cast<long>(std::ceil(seconds));
  return whole < 60 ? fmt::format("{} s", whole)
                    : fmt::format("{} min {:02} s", whole / 60, whole % 60);
}

}  // namespace

ProgressBar::ProgressBar(bool wanted)
    : on_(wanted && isatty(STDERR_FILENO) != 0), start_(std::chrono::steady_clock::now()) {
  if (on_) show(0.0, 1.0);
}

ProgressBar::~ProgressBar() { wipe(); }

void ProgressBar::wipe() {
  if (on_) std::fputs("\r\x1b[K", stderr);
}

void ProgressBar::show(double done, double total, std::string_view note) {
  if (!on_) return;
  const double share = total > 0.0 ? done / total : 1.0;
  const std::chrono::duration<double> so_far = std::chrono::steady_clock::now() - start_;
  const int width = note.empty() ? kBarWidth : kBarWidthBesideNote;
  const int filled = static_cast<int>(share * width);
  const std::string left =
      share > 0.0 ? duration(so_far.count() * (1.0 - share) / share) + " left" : "starting";
  // Unlike fmt::print these do not throw if standard error is closed or full.
  std::fputs(fmt::format("\r[{:#<{}}{:.<{}}] {:3.0f} %  {}{}{}\x1b[K", "", filled, "",
                         width - filled, 100.0 * share, left, note.empty() ? "" : "  ", note)
                 .c_str(),
             stderr);
  std::fflush(stderr);
}

}  // namespace normlab
