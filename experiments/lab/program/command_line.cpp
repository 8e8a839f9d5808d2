// Tested through the programs by tests/experiments.
#include "experiments/lab/program/command_line.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <new>
#include <sstream>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "core/check.hpp"

namespace normlab::command_line {

namespace {

std::string refusal(const std::string& must, const std::string& text) {
  return fmt::format("{}, got {}", must, text.empty() ? "nothing" : text);
}

template <typename T>
CLI::Validator number_between(T low, T high) {
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        T value{};
        const char* end = text.data() + text.size();
        const auto [rest, error] = std::from_chars(text.data(), end, value);
        if (error != std::errc() || rest != end || value < low || value > high) {
          return refusal(fmt::format("must be a whole number from {} to {}", low, high), text);
        }
        text = std::to_string(value);
        return {};
      },
      "");
}

// The names, on lines short enough for the right half of 80 columns.
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kColumns = 46;
  std::string text, line;
  for (const std::string& name : names) {
    if (line.size() + name.size() + 2 > kColumns) {
      text += "\n" + line;
      line.clear();
    }
    line += name + (name == names.back() ? "" : ", ");
  }
  return text + "\n" + line;
}

// Errors about options start with the program's name as it is.
void report(const std::string& program, std::string_view message) {
  const std::string own = "[" + program + "] ";
  if (message.starts_with(own)) message.remove_prefix(own.size());
  fmt::print(stderr, "{}: {}\n", program, message);
}

}  // namespace

int default_threads() {
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMostThreads);
}

CLI::Validator whole_number(std::int64_t low, std::int64_t high) {
  return number_between(low, high);
}

CLI::Validator seed() {
  return number_between(std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max());
}

CLI::Validator number_at_least(double low) {
  return CLI::Validator(
      [=](const std::string& text) {
        double value = 0.0;
        const char* end = text.data() + text.size();
        const auto [rest, error] = std::from_chars(text.data(), end, value);
        const bool fits =
            error == std::errc() && rest == end && std::isfinite(value) && value >= low;
        return fits ? ""
                    : refusal(fmt::format("must be a finite number of at least {}", low), text);
      },
      "");
}

CLI::Validator one_of(const std::vector<std::string>& names) {
  const std::string must = names.size() <= 2
                               ? fmt::format("must be {}", fmt::join(names, " or "))
                               : fmt::format("must be one of {}", fmt::join(names, ", "));
  return CLI::Validator(
      [=](const std::string& text) {
        const bool known = std::find(names.begin(), names.end(), text) != names.end();
        return known ? "" : refusal(must, text);
      },
      "");
}

CLI::Option* add_choice(CLI::App& app, const std::string& option, std::string& chosen,
                        const std::string& description, const std::vector<std::string>& names) {
  return app.add_option(option, chosen, description + ", one of" + listed(names))
      ->check(one_of(names))
      ->capture_default_str();
}

CLI::Option* add_choices(CLI::App& app, const std::string& option, std::vector<std::string>& chosen,
                         const std::string& description, const std::vector<std::string>& names) {
  return app.add_option(option, chosen, description + ", one or more of" + listed(names))
      ->check(one_of(names))
      ->capture_default_str();
}

CLI::Option* add_placement(CLI::App& app, Placement& chosen, const std::string& description,
                           const std::vector<std::string>& names) {
  const auto choose = [&chosen](const std::string& text) {
    chosen = nn::placements().at(text).placement;
  };
  return app
      .add_option_function<std::string>("--placement", choose,
                                        description + ", one of" + listed(names))
      ->check(one_of(names))
      ->default_str(name(chosen));
}

CLI::Option* add_placements(CLI::App& app, std::vector<Placement>& chosen,
                            const std::string& description, const std::vector<std::string>& names) {
  const auto choose = [&chosen](const std::vector<std::string>& texts) {
    chosen.clear();
    for (const std::string& text : texts) chosen.push_back(nn::placements().at(text).placement);
  };
  std::vector<std::string> before;
  for (const Placement each : chosen) before.push_back(name(each));
  return app
      .add_option_function<std::vector<std::string>>(
          "--placement", choose, description + ", one or more of" + listed(names))
      ->check(one_of(names))
      ->default_str(fmt::format("[{}]", fmt::join(before, ",")));
}

CLI::Validator a_path() {
  return CLI::Validator(
      [](const std::string& text) {
        return text.empty() ? refusal("must name a file", text) : std::string();
      },
      "");
}

void add_threads(CLI::App& app, int& threads) {
  app.add_option("--threads", threads,
                 "cells computed at a time; the output does\nnot depend on it")
      ->transform(whole_number(1, kMostThreads))
      ->capture_default_str();
}

void check_standard_output(const std::string& program) {
  if (fcntl(STDOUT_FILENO, F_GETFD) >= 0) return;
  fail_file(program, "standard output", "is closed", "leave it open or use --quiet");
}

void print(const std::string& program, const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    fail_file(program, "standard output", "cannot be written", "check where it goes to");
  }
}

int run(CLI::App& app, int argc, const char* const* argv, const std::function<int()>& body) {
  const std::string program = app.get_name();
  try {
    try {
      app.parse(argc, argv);
    } catch (const CLI::Success& request) {  // --help, --version
      std::ostringstream text;
      app.exit(request, text);
      print(program, text.str());
      return 0;
    }
    return body();
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string text = error.what();
    const std::string option = text.substr(0, text.find(':'));
    const auto says = [&](const char* part) { return text.find(part) != std::string::npos; };
    // CLI11's own words are "1 required INT missing" and "At Most 1 required but received 2".
    const std::string problem = says("missing")     ? option + ": needs a value, got none"
                                : says("At Most 1") ? option + ": must be given once"
                                                    : text;
    report(program, problem + " (see --help)");
  } catch (const CLI::ParseError& error) {
    report(program, fmt::format("{} (see --help)", error.what()));
  } catch (const std::bad_alloc&) {
    report(program, "not enough memory: use fewer --threads or smaller sizes");
  } catch (const std::exception& error) {
    report(program, error.what());
  }
  return kBadInput;
}

}  // namespace normlab::command_line
