// Tested by tests/experiments/lab/report/gnuplot_test.cpp.
#include "experiments/lab/report/gnuplot.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace normlab {

namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
// std::tmpfile: readable by nobody else, and gone when it is closed or the process dies.
using NamelessFile = std::unique_ptr<std::FILE, CloseFile>;

std::string contents(std::FILE* file) {
  std::string text;
  std::array<char, 65536> buffer;
  std::rewind(file);
  for (std::size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), file)) > 0;) {
    text.append(buffer.data(), n);
  }
  return text;
}

// Numbers must be written with a point, whatever the user's language.
std::vector<std::string> child_environment() {
  std::vector<std::string> variables;
  for (char** each = environ; *each != nullptr; ++each) {
    if (!std::string_view(*each).starts_with("LC_ALL=")) variables.emplace_back(*each);
  }
  variables.emplace_back("LC_ALL=C.UTF-8");
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& each : strings) result.push_back(each.data());
  result.push_back(nullptr);
  return result;
}

// Returns 0 or an errno. The child leads a process group, so that all it may have started can be
// ended with it.
int start(const Plotter& plotter, std::FILE* in, std::FILE* out, std::FILE* err, pid_t& child) {
  std::vector<std::string> arguments{plotter.program, "-d"}, variables = child_environment();
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, fileno(in), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(out), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(err), STDERR_FILENO);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const int error = posix_spawnp(&child, plotter.program.c_str(), &actions, &attributes,
                                 pointers(arguments).data(), pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

// The child's wait status, or nothing to be had: -1 after the timeout, when it was killed.
int wait_for(pid_t child, std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    // A caller that ignores SIGCHLD gets no status: the output will tell.
    if (ended < 0 && errno != EINTR) return 0;
    if (std::chrono::steady_clock::now() >= deadline) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
  kill(-child, SIGKILL);
  waitpid(child, &status, 0);
  return -1;
}

// gnuplot quotes the command first; what is wrong with it stands in the last line.
std::string complaint(std::FILE* err) {
  const std::string text = contents(err);
  const std::size_t last = text.find_last_not_of(" \t\n");
  if (last == std::string::npos) return "";
  const std::size_t line = text.find_last_of('\n', last) + 1;  // npos + 1 is 0
  const std::size_t start = text.find_first_not_of(" \t", line);
  return ": " + text.substr(start, last + 1 - start);
}

}  // namespace

PlotterOutput run_gnuplot(const Plotter& plotter, const std::string& script) {
  const NamelessFile in(std::tmpfile()), out(std::tmpfile()), err(std::tmpfile());
  if (in == nullptr || out == nullptr || err == nullptr ||
      std::fwrite(script.data(), 1, script.size(), in.get()) != script.size() ||
      std::fflush(in.get()) != 0 || std::fseek(in.get(), 0, SEEK_SET) != 0) {
    return {"", "no temporary file could be written"};
  }
  pid_t child = -1;
  if (const int error = start(plotter, in.get(), out.get(), err.get(), child); error != 0) {
    if (error == ENOENT) return {"", "gnuplot was not found"};
    return {"", "gnuplot could not be started: " + std::generic_category().message(error)};
  }
  const int status = wait_for(child, plotter.timeout);
  if (status == -1) {
    return {"", fmt::format("gnuplot did not end within {} s",
                            static_cast<double>(plotter.timeout.count()) / 1000.0)};
  }
  if (status != 0) return {"", "gnuplot failed" + complaint(err.get())};
  return {contents(out.get()), ""};
}

std::string gnuplot_quoted(const std::string& text) {
  std::string quoted = "'";
  for (char c : text) {
    if (c == '\'') {
      quoted += "'.\"'\".'";
    } else {
      quoted += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
  }
  return quoted + "'";
}

}  // namespace normlab
