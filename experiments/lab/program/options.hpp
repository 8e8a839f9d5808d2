#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/lab/results/results.hpp"
#include "nn/transformer/placement.hpp"

namespace normlab::lab {

// What an option takes. Each says in its message what was expected and what came.
struct Whole {
  std::int64_t low, high;
};
struct AtLeast {  // a finite number
  double low;
};
struct OneOf {
  std::vector<std::string> names;
};
struct AnySeed {};
struct AnyText {};
struct File {
  enum class Use { read, written } use;
  std::string may_equal{};  // an option whose file may be this one; all others must be different
};

// One option, as help, JSON, page and reference tell it.
struct Option {
  std::string flag;  // "--layers"
  std::string key;   // in JSON: "layers"
  std::string help;
  std::string allowed;  // "a whole number from 1 to 1000"
  std::string initial;  // the default as text; empty if there is none
  std::function<Cell()> value;
};

// The options of a program. Each is described by one call, which names the variable that holds it;
// what that holds at this moment is the default. `key` is the flag's name with _ for - unless
// given.
class Options {
 public:
  Options(const std::string& program, const std::string& description, const std::string& footer);
  ~Options();

  Options& add(const std::string& flag, std::int64_t& value, Whole allowed,
               const std::string& help);
  Options& add(const std::string& flag, std::vector<std::int64_t>& values, Whole allowed,
               const std::string& help);
  Options& add(const std::string& flag, double& value, AtLeast allowed, const std::string& help);
  Options& add(const std::string& flag, std::vector<double>& values, AtLeast allowed,
               const std::string& help);
  // Nothing unless given: null among the settings.
  Options& add(const std::string& flag, std::optional<double>& value, AtLeast allowed,
               const std::string& help);
  Options& add(const std::string& flag, std::string& value, OneOf allowed, const std::string& help);
  Options& add(const std::string& flag, std::vector<std::string>& values, OneOf allowed,
               const std::string& help);
  Options& add(const std::string& flag, Placement& value, OneOf allowed, const std::string& help);
  Options& add(const std::string& flag, std::vector<Placement>& values, OneOf allowed,
               const std::string& help);
  Options& add(const std::string& flag, std::uint64_t& value, AnySeed allowed,
               const std::string& help);
  Options& add(const std::string& flag, std::vector<std::uint64_t>& values, AnySeed allowed,
               const std::string& help);
  Options& add(const std::string& flag, std::vector<std::string>& values, AnyText allowed,
               const std::string& help);
  // Not part of the configuration: where files are, and what is printed.
  Options& add(const std::string& flag, std::string& path, File file, const std::string& help);
  Options& add(const std::string& flag, bool& value, const std::string& help);
  // Not part of the configuration either, since no result depends on it.
  void add_threads(std::string flag_help, int& threads);

  // Another text for the default than the variable's, of the option that was added last.
  Options& shown_default(const std::string& text);
  // Of the option that was added last: not among the settings of the results.
  Options& unlisted();

  bool given(const std::string& flag) const;
  // Takes the values of all settings from a run that is continued, as texts under their keys; what
  // is none of these is passed over. Throws std::invalid_argument for an option that was given with
  // another value, and std::runtime_error if a value is missing or would be refused on the command
  // line.
  void take(const std::map<std::string, std::string>& values);
  const std::vector<Option>& all() const { return options_; }
  std::vector<Setting> settings() const;
  std::vector<std::string> path_flags() const;
  // Throws std::invalid_argument if two options name the same file, however it is written, and
  // std::runtime_error if one that will be written cannot be.
  void check_files() const;

  // The page docs/reference/<program>.md, made by `<program> --reference`; see docs/reference.
  std::string reference() const;

  // False if --help, --version or --reference was asked for; `answer` is then their text. Throws
  // UsageError.
  bool parse(int argc, const char* const* argv, std::string& answer);

 private:
  struct Parser;
  struct FileOption;
  using ReadOne = std::function<std::string(const std::string&)>;  // returns what is wrong, or ""

  template <typename T, typename Allowed>
  void add_value(const std::string& flag, T& value, const Allowed& allowed,
                 const std::string& help);
  template <typename T, typename Allowed>
  void add_list(const std::string& flag, std::vector<T>& values, const Allowed& allowed,
                const std::string& help);
  void add_parsed(Option option, bool list, std::function<void()> start, ReadOne read,
                  std::vector<std::string> names = {});
  std::string unknown_argument() const;

  std::string program_, description_, footer_;
  std::unique_ptr<Parser> parser_;
  std::vector<Option> options_;
  std::vector<FileOption> files_;
};

}  // namespace normlab::lab
