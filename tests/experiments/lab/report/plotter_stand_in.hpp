#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <unistd.h>

namespace normlab {

// A shell script named gnuplot in a folder of its own, so that tests need no gnuplot.
class PlotterStandIn {
 public:
  explicit PlotterStandIn(const std::string& commands) {
    std::string name = (std::filesystem::temp_directory_path() / "normlab-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    std::ofstream(program()) << "#!/bin/sh\nPATH=/usr/bin:/bin\n" << commands << "\n";
    std::filesystem::permissions(program(), std::filesystem::perms::owner_all);
  }
  ~PlotterStandIn() { std::filesystem::remove_all(folder_); }
  PlotterStandIn(const PlotterStandIn&) = delete;
  PlotterStandIn& operator=(const PlotterStandIn&) = delete;

  const std::string& folder() const { return folder_; }
  std::string program() const { return folder_ + "/gnuplot"; }

 private:
  std::string folder_;
};

// PATH, for as long as it lives.
class PathOverride {
 public:
  explicit PathOverride(const std::string& path) {
    if (const char* old = std::getenv("PATH"); old != nullptr) old_ = old;
    setenv("PATH", path.c_str(), 1);
  }
  ~PathOverride() {
    if (old_) {
      setenv("PATH", old_->c_str(), 1);
    } else {
      unsetenv("PATH");
    }
  }
  PathOverride(const PathOverride&) = delete;
  PathOverride& operator=(const PathOverride&) = delete;

 private:
  std::optional<std::string> old_;
};

}  // namespace normlab
