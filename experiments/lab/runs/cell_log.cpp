// Tested by tests/experiments/lab/runs/cell_log_test.cpp.
#include "experiments/lab/runs/cell_log.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "core/atomic_file.hpp"
#include "core/check.hpp"

namespace normlab {

namespace {

constexpr const char* kHint = "name another file, or remove it to start again";

[[noreturn]] void fail_log(const std::string& path, const std::string& problem) {
  fail_file("resume", path, problem, kHint);
}

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file.good() || !(text << file.rdbuf())) fail_log(path, "cannot be read");
  return text.str();
}

CellLog::Json parse_line(const std::string& path, const std::string& line, int number) {
  CellLog::Json parsed = CellLog::Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) {
    fail_log(path, "is no log of an experiment: line " + std::to_string(number) +
                       " is not an object in JSON");
  }
  return parsed;
}

// Says which option differs, not all of both.
void check_header(const std::string& path, const CellLog::Json& theirs, const CellLog::Json& ours) {
  if (theirs == ours) return;
  std::string difference = "its header is another";
  for (const auto& [key, value] : ours.items()) {
    if (theirs.contains(key) && theirs[key] == value) continue;
    difference = key + " is " + (theirs.contains(key) ? theirs[key].dump() : "missing") +
                 " in place of " + value.dump();
    break;
  }
  fail_log(path, "belongs to a run of other options or of another version: " + difference);
}

}  // namespace

CellLog::CellLog(std::string path, const Json& header) : path_(std::move(path)) {
  check_writable(path_);
  const std::string first_line = header.dump() + "\n";
  std::error_code ignored;
  if (!std::filesystem::exists(path_, ignored) || std::filesystem::file_size(path_, ignored) == 0) {
    write_atomically(path_, first_line);
    return;
  }
  const std::string text = read_all(path_);
  const std::size_t end = text.rfind('\n') + 1;  // 0 if there is no complete line
  std::istringstream lines(text.substr(0, end));
  std::string line;
  if (!std::getline(lines, line)) fail_log(path_, "is no log of an experiment: it has no line");
  check_header(path_, parse_line(path_, line, 1), header);
  for (int number = 2; std::getline(lines, line); ++number) {
    Json entry = parse_line(path_, line, number);
    if (!entry.contains("cell") || !entry.contains("measured")) {
      fail_log(path_, "has no cell in line " + std::to_string(number));
    }
    measured_[entry["cell"].dump()] = std::move(entry["measured"]);
  }
  if (end != text.size()) write_atomically(path_, text.substr(0, end));
}

void CellLog::refuse(const std::string& problem) const { fail_log(path_, problem); }

const CellLog::Json* CellLog::find(const Json& cell) const {
  const auto found = measured_.find(cell.dump());
  return found == measured_.end() ? nullptr : &found->second;
}

void CellLog::append(const Json& cell, const Json& measured) {
  const std::string line = Json{{"cell", cell}, {"measured", measured}}.dump() + "\n";
  const int file = open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  const bool whole = file >= 0 &&
                     write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
                     fsync(file) == 0;
  const int error = errno;
  if (file >= 0) close(file);
  if (!whole) {
    fail_log(path_, "cannot be written: " + std::generic_category().message(error));
  }
  measured_[cell.dump()] = measured;
}

}  // namespace normlab
