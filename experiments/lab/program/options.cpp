// The only source that knows the library which reads the command line. Tested by
// tests/experiments/lab/program/options_test.cpp and through the programs.
#include "experiments/lab/program/options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <sstream>
#include <string_view>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/atomic_file.hpp"
#include "core/check.hpp"
#include "experiments/lab/program/did_you_mean.hpp"
#include "experiments/lab/program/usage_error.hpp"

namespace normlab::lab {

struct Options::Parser {
  CLI::App app;
  CLI::Option* last = nullptr;
};

struct Options::FileOption {
  std::string flag;
  const std::string* path;
  File file;
};

namespace {

constexpr int kMostThreads = 1024;

// One value from text. Each returns what is wrong with the text, or nothing.
template <typename T>
std::string read_number(const std::string& text, T low, T high, T& value) {
  const char* end = text.data() + text.size();
  T parsed{};
  const auto [rest, error] = std::from_chars(text.data(), end, parsed);
  if (error == std::errc() && rest == end && parsed >= low && parsed <= high) {
    value = parsed;
    return {};
  }
  return fmt::format("must be a whole number from {} to {}", low, high);
}
std::string read(const std::string& text, const Whole& allowed, std::int64_t& value) {
  return read_number(text, allowed.low, allowed.high, value);
}
std::string read(const std::string& text, const AnySeed&, std::uint64_t& value) {
  return read_number(text, std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max(), value);
}
std::string read(const std::string& text, const AtLeast& allowed, double& value) {
  const char* end = text.data() + text.size();
  double parsed = 0.0;
  const auto [rest, error] = std::from_chars(text.data(), end, parsed);
  if (error == std::errc() && rest == end && std::isfinite(parsed) && parsed >= allowed.low) {
    value = parsed;
    return {};
  }
  return fmt::format("must be a finite number of at least {}", allowed.low);
}
std::string read(const std::string& text, const OneOf& allowed, std::string& value) {
  const std::vector<std::string>& names = allowed.names;
  if (std::find(names.begin(), names.end(), text) != names.end()) {
    value = text;
    return {};
  }
  if (names.size() <= 2) return fmt::format("must be {}", fmt::join(names, " or "));
  return fmt::format("must be one of {}", fmt::join(names, ", "));
}
std::string read(const std::string& text, const OneOf& allowed, Placement& value) {
  std::string chosen;
  const std::string problem = read(text, allowed, chosen);
  if (problem.empty()) value = nn::placements().at(chosen).placement;
  return problem;
}
std::string read(const std::string& text, const AnyText&, std::string& value) {
  value = text;
  return {};
}

std::string allowed_text(const Whole& allowed) {
  if (allowed.high == std::numeric_limits<std::int64_t>::max()) {
    return fmt::format("a whole number of at least {}", allowed.low);
  }
  return fmt::format("a whole number from {} to {}", allowed.low, allowed.high);
}
std::string allowed_text(const AtLeast& allowed) {
  return fmt::format("a number of at least {}", allowed.low);
}
std::string allowed_text(const OneOf& allowed) {
  return fmt::format("one of {}", fmt::join(allowed.names, ", "));
}
std::string allowed_in_list(const OneOf& allowed) {
  return fmt::format("one or more of {}", fmt::join(allowed.names, ", "));
}
std::string allowed_text(const AnySeed&) { return "a whole number below 2^64"; }
std::string allowed_text(const AnyText&) { return "text"; }
template <typename Allowed>
std::string allowed_in_list(const Allowed& allowed) {
  return allowed_text(allowed) + ", one or more";
}

std::vector<std::string> names_of(const OneOf& allowed) { return allowed.names; }
template <typename Allowed>
std::vector<std::string> names_of(const Allowed&) {
  return {};
}

Cell cell_of(const Placement& placement) { return name(placement); }
Cell cell_of(const std::vector<Placement>& placements) {
  std::vector<std::string> names;
  for (Placement placement : placements) names.push_back(name(placement));
  return names;
}
template <typename T>
Cell cell_of(const T& value) {
  return value;
}

std::string key_of(std::string flag) {
  flag.erase(0, 2);
  std::replace(flag.begin(), flag.end(), '-', '_');
  return flag;
}

// At most 46 columns wide, which is what CLI11 leaves of 80.
std::string help_lines(const std::string& sentence) {
  constexpr std::size_t kColumns = 46;
  std::string text;
  std::size_t column = 0;
  std::istringstream words(sentence);
  for (std::string word; words >> word;) {
    if (column > 0 && column + 1 + word.size() > kColumns) {
      text += "\n";
      column = 0;
    } else if (column > 0) {
      text += " ";
      ++column;
    }
    text += word;
    column += word.size();
  }
  return text;
}

std::filesystem::path canonical(const std::string& path) {
  std::error_code error;
  const auto place = std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
  return error ? std::filesystem::path(path) : place;
}

}  // namespace

Options::Options(const std::string& program, const std::string& description,
                 const std::string& footer)
    : program_(program),
      description_(description),
      footer_(footer),
      parser_(new Parser{CLI::App(description, program)}) {
  parser_->app.set_version_flag("--version", std::string("normlab ") + NORMLAB_VERSION);
  parser_->app.footer(footer);
}

Options::~Options() = default;

void Options::add_parsed(Option option, bool list, std::function<void()> start, ReadOne read_one,
                         std::vector<std::string> names) {
  // The names of a choice stand in the help; a range does in the message of an error.
  const std::string help = names.empty() ? option.help : option.help + ", " + option.allowed;
  CLI::Option* parsed = parser_->app.add_option_function<std::vector<std::string>>(
      option.flag,
      [start, read_one, names, flag = option.flag](const std::vector<std::string>& texts) {
        start();
        for (const std::string& text : texts) {
          const std::string problem = read_one(text);
          if (problem.empty()) continue;
          throw CLI::ValidationError(
              flag, fmt::format("{}, got {}{}", problem, text.empty() ? "nothing" : text,
                                did_you_mean(text, names)));
        }
      },
      help_lines(help));
  parsed->default_str(option.initial)->type_name("");
  if (list) {
    parsed->expected(1, std::numeric_limits<int>::max() / 2);
  } else {
    parsed->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  }
  parser_->last = parsed;
  options_.push_back(std::move(option));
}

template <typename T, typename Allowed>
void Options::add_value(const std::string& flag, T& value, const Allowed& allowed,
                        const std::string& help) {
  const auto now = [&value] { return cell_of(value); };
  add_parsed(
      {flag, key_of(flag), help, allowed_text(allowed), cell_text(now(), {"", "", "g"}), now},
      false, [] {},
      [&value, allowed](const std::string& text) { return read(text, allowed, value); },
      names_of(allowed));
}

template <typename T, typename Allowed>
void Options::add_list(const std::string& flag, std::vector<T>& values, const Allowed& allowed,
                       const std::string& help) {
  const auto now = [&values] { return cell_of(values); };
  std::string initial = cell_text(now(), {"", "", "g"});
  initial.erase(std::remove(initial.begin(), initial.end(), ','), initial.end());
  add_parsed(
      {flag, key_of(flag), help, allowed_in_list(allowed), initial, now}, true,
      [&values] { values.clear(); },
      [&values, allowed](const std::string& text) {
        return read(text, allowed, values.emplace_back());
      },
      names_of(allowed));
}

Options& Options::add(const std::string& flag, std::int64_t& value, Whole allowed,
                      const std::string& help) {
  add_value(flag, value, allowed, help);
  return *this;
}
Options& Options::add(const std::string& flag, std::vector<std::int64_t>& values, Whole allowed,
                      const std::string& help) {
  add_list(flag, values, allowed, help);
  return *this;
}
Options& Options::add(const std::string& flag, double& value, AtLeast allowed,
                      const std::string& help) {
  add_value(flag, value, allowed, help);
  return *this;
}
Options& Options::add(const std::string& flag, std::vector<double>& values, AtLeast allowed,
                      const std::string& help) {
  add_list(flag, values, allowed, help);
  return *this;
}
Options& Options::add(const std::string& flag, std::optional<double>& value, AtLeast allowed,
                      const std::string& help) {
  const auto now = [&value] { return value ? Cell(*value) : Cell(); };
  add_parsed(
      {flag, key_of(flag), help, allowed_text(allowed), value ? fmt::format("{:g}", *value) : "",
       now},
      false, [] {},
      [&value, allowed](const std::string& text) { return read(text, allowed, value.emplace()); });
  return *this;
}
Options& Options::add(const std::string& flag, std::string& value, OneOf allowed,
                      const std::string& help) {
  add_value(flag, value, allowed, help);
  return *this;
}
Options& Options::add(const std::string& flag, std::vector<std::string>& values, OneOf allowed,
                      const std::string& help) {
  add_list(flag, values, allowed, help);
  return *this;
}
Options& Options::add(const std::string& flag, Placement& value, OneOf allowed,
                      const std::string& help) {
  add_value(flag, value, allowed, help);
  return *this;
}
Options& Options::add(const std::string& flag, std::vector<Placement>& values, OneOf allowed,
                      const std::string& help) {
  add_list(flag, values, allowed, help);
  return *this;
}
Options& Options::add(const std::string& flag, std::uint64_t& value, AnySeed allowed,
                      const std::string& help) {
  add_value(flag, value, allowed, help);
  return *this;
}
Options& Options::add(const std::string& flag, std::vector<std::uint64_t>& values, AnySeed allowed,
                      const std::string& help) {
  add_list(flag, values, allowed, help);
  return *this;
}
Options& Options::add(const std::string& flag, std::vector<std::string>& values, AnyText allowed,
                      const std::string& help) {
  add_list(flag, values, allowed, help);
  return *this;
}

Options& Options::add(const std::string& flag, std::string& path, File file,
                      const std::string& help) {
  add_parsed(
      {flag, key_of(flag), help, "a path", "", nullptr}, false, [] {},
      [&path](const std::string& text) {
        path = text;
        return text.empty() ? "must name a file" : "";
      });
  files_.push_back({flag, &path, std::move(file)});
  return *this;
}

Options& Options::add(const std::string& flag, bool& value, const std::string& help) {
  parser_->last = parser_->app.add_flag(flag, value, help_lines(help));
  options_.push_back({flag, key_of(flag), help, "", "", nullptr});
  return *this;
}

void Options::add_threads(std::string help, int& threads) {
  add_parsed(
      {"--threads", "threads", std::move(help), allowed_text(Whole{1, kMostThreads}),
       std::to_string(threads), nullptr},
      false, [] {},
      [&threads](const std::string& text) {
        std::int64_t value = threads;
        const std::string problem = read(text, Whole{1, kMostThreads}, value);
        threads = static_cast<int>(value);
        return problem;
      });
}

Options& Options::shown_default(const std::string& text) {
  options_.back().initial = text;
  parser_->last->default_str(text);
  return *this;
}

Options& Options::unlisted() {
  options_.back().value = nullptr;
  return *this;
}

bool Options::given(const std::string& flag) const { return parser_->app.count(flag) > 0; }

void Options::take(const std::map<std::string, std::string>& values) {
  for (const Option& option : options_) {
    if (!option.value) continue;
    const auto value = values.find(option.key);
    if (value == values.end()) throw std::runtime_error("there is no " + option.key);
    const auto text = [&] { return cell_text(option.value(), {"", "", ""}); };
    const std::string given = text();
    CLI::Option* parsed = parser_->app.get_option(option.flag);
    const bool is_given = parsed->count() > 0;
    try {
      parsed->clear();
      parsed->add_result(value->second);
      parsed->run_callback();
    } catch (const CLI::ParseError& error) {
      throw std::runtime_error(error.what());
    }
    check(!is_given || text() == given, program_, option.flag,
          "must be as in the checkpoint, " + text(), given);
  }
}

std::vector<Setting> Options::settings() const {
  std::vector<Setting> settings;
  for (const Option& option : options_) {
    if (option.value) settings.push_back({option.key, option.help, option.value()});
  }
  return settings;
}

std::vector<std::string> Options::path_flags() const {
  std::vector<std::string> flags;
  for (const FileOption& option : files_) flags.push_back(option.flag);
  return flags;
}

void Options::check_files() const {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const FileOption& first = files_[i];
    if (first.path->empty()) continue;
    for (std::size_t j = i + 1; j < files_.size(); ++j) {
      const FileOption& second = files_[j];
      const bool both_read =
          first.file.use == File::Use::read && second.file.use == File::Use::read;
      const bool allowed =
          first.file.may_equal == second.flag || second.file.may_equal == first.flag;
      if (second.path->empty() || both_read || allowed) continue;
      check(canonical(*first.path) != canonical(*second.path), program_.c_str(),
            second.flag.c_str(), "must name another file than " + first.flag, *second.path);
    }
  }
  for (const FileOption& option : files_) {
    if (option.file.use == File::Use::written && !option.path->empty()) {
      check_writable(*option.path);
    }
  }
}

// An option that there is not takes its values along: it is the one to name.
std::string Options::unknown_argument() const {
  const std::vector<std::string> unknown = parser_->app.remaining();
  const auto flag = std::find_if(unknown.begin(), unknown.end(),
                                 [](const std::string& text) { return text.starts_with('-'); });
  const std::string name =
      flag == unknown.end() ? unknown.front() : flag->substr(0, flag->find('='));
  std::vector<std::string> flags{"--help", "--version"};
  for (const Option& option : options_) flags.push_back(option.flag);
  return fmt::format("The following argument was not expected: {}{}", name,
                     did_you_mean(name, flags));
}

bool Options::parse(int argc, const char* const* argv, std::string& answer) {
  if (argc == 2 && std::string_view(argv[1]) == "--reference") {
    answer = reference();
    return false;
  }
  try {
    parser_->app.parse(argc, argv);
    return true;
  } catch (const CLI::Success& request) {  // --help, --version
    std::ostringstream text;
    parser_->app.exit(request, text);
    answer = text.str();
    return false;
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string text = error.what();
    const std::string option = text.substr(0, text.find(':'));
    const auto says = [&](const char* part) { return text.find(part) != std::string::npos; };
    // CLI11's own words are "1 required INT missing" and "At Most 1 required but received 2".
    throw UsageError((says("missing") || says("received 0") ? option + ": needs a value, got none"
                      : says("received") || says("At Most") ? option + ": must be given once"
                                                            : text) +
                     " (see --help)");
  } catch (const CLI::ExtrasError&) {
    throw UsageError(unknown_argument() + " (see --help)");
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{} (see --help)", error.what()));
  }
}

}  // namespace normlab::lab
