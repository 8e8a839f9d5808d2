#pragma once

#include <functional>
#include <string>

#include "experiments/lab/program/options.hpp"
#include "experiments/lab/results/results.hpp"
#include "experiments/lab/runs/run.hpp"

namespace normlab::lab {

// Exit codes of every program: 0, and
inline constexpr int kCheckFailed = 1;   // a check of the experiment itself failed
inline constexpr int kBadInput = 2;      // bad usage or bad input
inline constexpr int kDiverged = 3;      // the training diverged
inline constexpr int kInterrupted = 75;  // stopped by a signal; run it again to go on

struct About {
  std::string name, description;
  std::string exit_codes;  // what --help ends with
  // What --threads counts; empty if the program has no such option.
  std::string threads = "configurations computed at a time; the output does not depend on it";
  // Of --resume FILE, which notes finished configurations; empty if the program has no such option.
  std::string resume{};
};

// The shell of a program: it reads the command line, has everything checked before any work, shows
// progress, writes the files that were asked for, prints, and ends with an exit code.
//
//   lab::Program program({.name = "lemmas", ...}, argc, argv);
//   program.options().add("--layers", options.depths, lab::Whole{1, 1000}, "depths L");
//   return program.run([&] { check(options); },
//                      [&](const lab::Run& run) { return results(measure(options, run)); });
class Program {
 public:
  // Adds the options that every program has: --json, --report, --figures, --quiet, and --threads
  // and --resume where `about` describes them. They stand last in --help.
  Program(About about, int argc, const char* const* argv);

  Options& options() { return options_; }

  // `check` throws for options that do not fit together. Whatever is thrown becomes one line on
  // standard error, "program: what", and kBadInput. Files are written before anything is printed.
  int run(const std::function<void()>& check, const std::function<Results(const Run&)>& measure);

 private:
  void add_shared_options();
  int run_checked(const std::function<Results(const Run&)>& measure);
  void write(const Results& results) const;

  About about_;
  int argc_;
  const char* const* argv_;
  Options options_;
  Run run_;
  std::string json_, report_, figures_;
};

// One line on standard error. It never fails: a closed or full standard error loses the line and
// nothing else.
void say(const std::string& line);

}  // namespace normlab::lab
