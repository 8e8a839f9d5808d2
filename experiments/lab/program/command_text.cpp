// Tested by tests/experiments/lab/program/command_text_test.cpp.
#include "experiments/lab/program/command_text.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace normlab::lab {

namespace {

// As one word of a POSIX shell.
std::string shell_quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=,:+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string file_part(const std::string& path) {
  const std::filesystem::path whole(path);
  const std::filesystem::path name =
      whole.has_filename() ? whole.filename() : whole.parent_path().filename();
  return name.string();
}

// "--option=value" with the value's folders left out, or the argument as it is.
std::string without_folders(const std::string& argument,
                            const std::vector<std::string>& path_options) {
  for (const std::string& option : path_options) {
    const std::string start = option + "=";
    if (argument.starts_with(start)) return start + file_part(argument.substr(start.size()));
  }
  return argument;
}

}  // namespace

std::string command_text(const std::string& program, int argc, const char* const* argv,
                         const std::vector<std::string>& path_options) {
  std::string text = program;
  bool is_path = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    text += ' ';
    text += shell_quoted(is_path ? file_part(argument) : without_folders(argument, path_options));
    is_path = std::find(path_options.begin(), path_options.end(), argument) != path_options.end();
  }
  return text;
}

}  // namespace normlab::lab
