// Tested by tests/experiments/discrepancy_test.cpp and e2e_discrepancy.sh.
#include "experiments/cell_journal.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "core/check.hpp"
#include "experiments/atomic_file.hpp"

namespace normlab {

namespace {

// Lines that end in a newline: what follows the last one is the piece that a kill left.
std::vector<std::string> whole_lines(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  std::vector<std::string> lines;
  std::istringstream rest(text.str());
  for (std::string line; std::getline(rest, line) && !rest.eof();) lines.push_back(line);
  return lines;
}

std::string text_of(const std::string& header, const std::vector<std::string>& lines) {
  std::string text = header + "\n";
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace

CellJournal::CellJournal(std::string path, std::string header, bool resume)
    : path_(std::move(path)), header_(std::move(header)) {
  if (resume && std::filesystem::is_regular_file(path_)) {
    found_ = whole_lines(path_);
    if (!found_.empty()) {
      if (found_.front() != header_) {
        fail_file("resume", path_, "was written by a run with other options, or another version",
                  "repeat the options of that run, or leave out --resume to begin anew");
      }
      found_.erase(found_.begin());
    }
  }
  write_atomically(path_, text_of(header_, found_));
  if (!std::filesystem::is_regular_file(path_)) return;  // a pipe or device keeps nothing
  file_.reset(std::fopen(path_.c_str(), "ab"));
  if (!file_) {
    fail_file("output", path_, "cannot be written: " + std::generic_category().message(errno),
              "name a file in a folder that you may write to");
  }
}

void CellJournal::append(std::string_view line) {
  if (!file_) return;
  const std::string text = std::string(line) + "\n";
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size() ||
      std::fflush(file_.get()) != 0) {
    fail_file("output", path_, "cannot be written: " + std::generic_category().message(errno),
              "make room, and continue with --resume");
  }
}

void CellJournal::finish(const std::vector<std::string>& lines) {
  file_.reset();
  write_atomically(path_, text_of(header_, lines));
}

}  // namespace normlab
