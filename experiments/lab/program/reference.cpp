// Options as a page of docs/reference. Tested by tests/experiments/lab/program/reference_test.cpp.
#include <fmt/format.h>

#include "experiments/lab/program/options.hpp"

namespace normlab::lab {

namespace {

// One line of Markdown, in which nothing of the text is markup or ends a cell.
std::string plain(const std::string& text) {
  std::string escaped;
  for (char c : text) {
    if (c == '\n') {
      escaped += ' ';
      continue;
    }
    if (std::string_view("\\`*_[]<>|").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string code(const std::string& text) { return text.empty() ? "" : "`" + text + "`"; }

std::string row(const std::string& flag, const std::string& initial, const std::string& allowed,
                const std::string& meaning) {
  return fmt::format("| {} | {} | {} | {} |\n", code(flag), code(initial), plain(allowed),
                     plain(meaning));
}

}  // namespace

std::string Options::reference() const {
  std::string page = fmt::format(
      "# {0}\n\n<!-- Made by `{0} --reference`. -->\n\n{1}.\n\n```\n{0} [OPTIONS]\n```\n\n"
      "| option | default | allowed | meaning |\n| --- | --- | --- | --- |\n",
      program_, plain(description_));
  for (const Option& option : options_) {
    // The default is that of the machine at hand.
    const std::string initial = option.flag == "--threads" ? "all cores" : option.initial;
    page += row(option.flag, initial, option.allowed, option.help);
  }
  page += row("--help", "", "", "show the options and end");
  page += row("--version", "", "", "show the version and end");
  return page + "\n" + plain(footer_) + "\n";
}

}  // namespace normlab::lab
