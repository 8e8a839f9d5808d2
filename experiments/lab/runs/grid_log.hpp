#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

namespace normlab {

// A file that grows by a line for every configuration that an experiment has computed, so that a
// run that was killed loses only the configurations it was computing. JSON Lines: first a header,
// which says what all configurations have in common, then {"configuration": ..., "measured": ...}
// in the order of completion. Every line ends with "checksum": 64-bit FNV-1a, in 16 hexadecimal
// digits, of the bytes before it. While it is open no other program can open it.
class GridLog {
 public:
  using Json = nlohmann::ordered_json;

  // Reads what is there, or starts the file. A last line without an end, left by a kill, is
  // dropped. Throws std::runtime_error, before anything is changed, if the file
  //   - is no regular file (a pipe or a device), or cannot be read and written,
  //   - is in use by another program,
  //   - is no such log, or has a line that is not as it was written, which is named,
  //   - holds two results of one configuration, or
  //   - has another header: its configurations would be another experiment's.
  GridLog(std::string path, const Json& header);

  // What was measured of the configuration; null if it is not there.
  const Json* find(const Json& configuration) const;

  // Calls use(measured) and returns true if the configuration is there. A std::runtime_error of
  // `use` becomes one that names the file and the line, and says what to do.
  template <typename F>
  bool read(const Json& configuration, F use) const {
    const auto found = entries_.find(configuration.dump());
    if (found == entries_.end()) return false;
    try {
      use(found->second.measured);
    } catch (const std::runtime_error& error) {
      refuse(found->second.line, error.what());
    }
    return true;
  }

  // Flushed to disk. If it cannot be written whole the file stays as it was, and std::runtime_error
  // says why. Not for two threads at a time.
  void append(const Json& configuration, const Json& measured);

 private:
  struct Entry {
    Json measured;
    int line;
  };
  class File;

  [[noreturn]] void refuse(int line, const std::string& problem) const;
  void read_lines(const std::string& text, const Json& header);
  void add_entry(const Json& entry, int line);

  std::string path_;
  std::shared_ptr<File> file_;
  int lines_ = 0;
  std::map<std::string, Entry> entries_;  // by the configuration's text
};

}  // namespace normlab
