#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "nn/transformer/placement.hpp"

// What the command lines of all experiments share.
namespace normlab::command_line {

inline constexpr int kCheckFailed = 1, kBadInput = 2;
inline constexpr int kMostThreads = 1024;
int default_threads();

// Validators that refuse in one line: what must hold and what came. CLI11 alone would read -1 as
// 2^64 - 1, 010 as 8 and cut what is too large; whole_number writes back what it understood.
CLI::Validator whole_number(std::int64_t low, std::int64_t high);
CLI::Validator seed();
CLI::Validator number_at_least(double low);  // and finite
CLI::Validator one_of(const std::vector<std::string>& names);
CLI::Validator a_path();

// An option that takes a whole number, or with a vector for its value a list of them.
template <typename T>
CLI::Option* add_whole_number(CLI::App& app, const std::string& option, T& value, std::int64_t low,
                              std::int64_t high, const std::string& description) {
  return app.add_option(option, value, description)
      ->transform(whole_number(low, high))
      ->capture_default_str();
}

// An option that takes one, or several, of the names; --help lists them under the description.
CLI::Option* add_choice(CLI::App& app, const std::string& option, std::string& chosen,
                        const std::string& description, const std::vector<std::string>& names);
CLI::Option* add_choices(CLI::App& app, const std::string& option, std::vector<std::string>& chosen,
                         const std::string& description, const std::vector<std::string>& names);

// --placement: one or several, by the names of nn::placements().
CLI::Option* add_placement(CLI::App& app, Placement& chosen, const std::string& description,
                           const std::vector<std::string>& names);
CLI::Option* add_placements(CLI::App& app, std::vector<Placement>& chosen,
                            const std::string& description, const std::vector<std::string>& names);

// --threads, for programs that compute cells in parallel.
void add_threads(CLI::App& app, int& threads);

// Throws std::runtime_error if standard output is closed, or cannot take the text.
void check_standard_output(const std::string& program);
void print(const std::string& program, const std::string& text);

// Parses the arguments, answers --help and --version, and calls the body, whose exit code it
// returns. Whatever is thrown becomes one line on standard error, "program: what", and kBadInput.
int run(CLI::App& app, int argc, const char* const* argv, const std::function<int()>& body);

}  // namespace normlab::command_line
