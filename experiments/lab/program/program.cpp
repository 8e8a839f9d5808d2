// Tested through the programs by tests/experiments, and by
// tests/experiments/lab/program/program_test.cpp.
#include "experiments/lab/program/program.hpp"

#include <algorithm>
#include <cstdio>
#include <new>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core/atomic_file.hpp"
#include "core/check.hpp"
#include "experiments/lab/program/command_text.hpp"
#include "experiments/lab/program/interrupt.hpp"
#include "experiments/lab/program/progress_bar.hpp"
#include "experiments/lab/program/usage_error.hpp"
#include "experiments/lab/report/figure_files.hpp"

namespace normlab::lab {

namespace {

void check_standard_output(const std::string& program) {
  if (fcntl(STDOUT_FILENO, F_GETFD) >= 0) return;
  fail_file(program, "standard output", "is closed", "leave it open or use --quiet");
}

void print(const std::string& program, const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    fail_file(program, "standard output", "cannot be written", "check where it goes to");
  }
}

// The options, those of the program's own settings in their place, and then what is left of these.
std::vector<Setting> with_options(std::vector<Setting> options, std::vector<Setting> own) {
  for (Setting& setting : own) {
    const auto same_key = [&](const Setting& option) { return option.key == setting.key; };
    const auto option = std::find_if(options.begin(), options.end(), same_key);
    if (option != options.end()) {
      *option = std::move(setting);
    } else {
      options.push_back(std::move(setting));
    }
  }
  return options;
}

}  // namespace

void say(const std::string& line) {
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fputc('\n', stderr);
}

Program::Program(About about, int argc, const char* const* argv)
    : about_(std::move(about)),
      argc_(argc),
      argv_(argv),
      options_(about_.name, about_.description, about_.exit_codes) {
  run_.threads = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 1024);
}

void Program::add_shared_options() {
  if (!about_.threads.empty()) options_.add_threads(about_.threads, run_.threads);
  if (!about_.resume.empty()) {
    options_.add("--resume", run_.resume, File{File::Use::written}, about_.resume);
  }
  options_.add("--json", json_, File{File::Use::written}, "also write every number to this file");
  options_.add("--report", report_, File{File::Use::written},
               "also write figures and tables to this HTML page (figures need gnuplot)");
  options_.add("--figures", figures_, File{File::Use::read},
               "also write the figures to this folder, as SVG");
  options_.add("--quiet", run_.quiet, "no tables and no progress bar");
}

int Program::run(const std::function<void()>& check,
                 const std::function<Results(const Run&)>& measure) {
  const auto report = [&](std::string_view message, int code) {
    const std::string own = "[" + about_.name + "] ";  // errors about options start with it
    if (message.starts_with(own)) message.remove_prefix(own.size());
    say(fmt::format("{}: {}", about_.name, message));
    return code;
  };
  try {
    add_shared_options();
    std::string answer;
    if (!options_.parse(argc_, argv_, answer)) {
      print(about_.name, answer);
      return 0;
    }
    if (check) check();
    if (!run_.quiet) check_standard_output(about_.name);
    options_.check_files();
    if (!figures_.empty()) check_figures_folder(figures_);
    return run_checked(measure);
  } catch (const Interrupted& interrupted) {
    const std::string how = interrupted.what();
    return report(
        "interrupted: " + (!how.empty()          ? how
                           : run_.resume.empty() ? "nothing is kept without --resume"
                                                 : "the same command goes on from " + run_.resume),
        kInterrupted);
  } catch (const std::bad_alloc&) {
    return report("not enough memory: use fewer --threads or smaller sizes", kBadInput);
  } catch (const std::exception& error) {
    return report(error.what(), kBadInput);
  }
}

int Program::run_checked(const std::function<Results(const Run&)>& measure) {
  Results results;
  {
    const InterruptHandler handler;
    ProgressBar bar(!run_.quiet);
    run_.progress = [&bar](double done, double total) { bar.show(done, total); };
    run_.noted_progress = [&bar](double done, double total, const std::string& note) {
      bar.show(done, total, note);
    };
    run_.remark = [&](const std::string& line) {
      if (run_.quiet) return;
      bar.wipe();
      say(fmt::format("{}: {}", about_.name, line));
    };
    results = measure(run_);
  }
  results.experiment = about_.name;
  results.command = command_text(about_.name, argc_, argv_, options_.path_flags());
  results.config = with_options(options_.settings(), std::move(results.config));
  write(results);
  if (!run_.quiet) print(about_.name, to_text(results));
  if (!results.exit_message.empty()) {
    say(fmt::format("{}: {}", about_.name, results.exit_message));
  }
  return results.exit_code;
}

void Program::write(const Results& results) const {
  if (!json_.empty()) write_atomically(json_, to_json(results));
  if (!report_.empty()) write_atomically(report_, to_html(results));
  if (!figures_.empty())
    write_figures(results.heat_maps, results.figures, results.panels, figures_);
}

}  // namespace normlab::lab
