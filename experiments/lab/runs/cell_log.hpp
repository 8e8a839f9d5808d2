#pragma once

#include <map>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

namespace normlab {

// A file that grows by a line for every cell that an experiment has computed, so that a run that
// was killed loses only the cells it was computing. JSON Lines: first a header, which says what all
// cells have in common, then {"cell": ..., "measured": ...} in the order of completion.
class CellLog {
 public:
  using Json = nlohmann::ordered_json;

  // Reads what is there, or starts the file. A last line without an end, left by a kill, is
  // dropped. Throws std::runtime_error, before anything is changed, if the file cannot be read or
  // written, is no such log, or has another header: its cells would be another experiment's.
  CellLog(std::string path, const Json& header);

  // What was measured of the cell; null if it is not there.
  const Json* find(const Json& cell) const;

  // What f makes of a measurement; a std::runtime_error becomes one that names the file and says
  // what to do.
  template <typename F>
  auto read(F f) const {
    try {
      return f();
    } catch (const std::runtime_error& error) {
      refuse(std::string("has a cell that is none: ") + error.what());
    }
  }

  // One write, flushed to disk. Not for two threads at a time.
  void append(const Json& cell, const Json& measured);

 private:
  [[noreturn]] void refuse(const std::string& problem) const;

  std::string path_;
  std::map<std::string, Json> measured_;  // by the cell's text
};

}  // namespace normlab
