// Tested by tests/experiments/lab/runs/grid_log_test.cpp.
#include "experiments/lab/runs/grid_log.hpp"

#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/check.hpp"
#include "core/fnv1a.hpp"
#include "core/json/strict_json.hpp"
#include "experiments/lab/runs/retried.hpp"

namespace normlab {

namespace {

constexpr const char* kHint = "name another file, or remove it to start again";

[[noreturn]] void fail_log(const std::string& path, const std::string& problem) {
  fail_file("resume", path, problem, kHint);
}

std::string reason(int error) { return std::generic_category().message(error); }

// ,"checksum":"0123456789abcdef"} in place of the brace that ends the object.
std::string with_checksum(const GridLog::Json& object) {
  std::string text = object.dump();
  text.pop_back();
  return fmt::format("{},\"checksum\":\"{:016x}\"}}", text, fnv1a(text));
}

// The object without its checksum, which must be that of the line's bytes.
GridLog::Json parse_line(const std::string& path, const std::string& line, int number) {
  GridLog::Json object;
  try {
    object = parse_json(line);
  } catch (const JsonError& error) {
    fail_log(path, fmt::format("is no log of an experiment: line {} {}", number, error.what()));
  }
  if (!object.is_object()) {
    fail_log(path, fmt::format("is no log of an experiment: line {} is not an object", number));
  }
  if (object.erase("checksum") == 0) {
    fail_log(path, fmt::format("has no checksum in line {}: another version wrote it", number));
  }
  if (with_checksum(object) != line) {
    fail_log(path,
             fmt::format("has been changed in line {}: its checksum is that of another", number));
  }
  return object;
}

// Says which option differs, not all of both.
void check_header(const std::string& path, const GridLog::Json& theirs, const GridLog::Json& ours) {
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

// A regular file that is locked while it is open.
class GridLog::File {
 public:
  explicit File(const std::string& path) : path_(path) {
    // Not waiting for whoever may be at the other end, if it is a pipe.
    descriptor_ = retried(
        [&] { return open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666); });
    if (descriptor_ < 0) fail_log(path, "cannot be opened: " + reason(errno));
    try {
      struct stat status {};
      if (fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
        fail_log(path, "is no regular file");
      }
      if (retried([&] { return flock(descriptor_, LOCK_EX | LOCK_NB); }) != 0) {
        fail_log(path, errno == EWOULDBLOCK ? "is in use by another program"
                                            : "cannot be locked: " + reason(errno));
      }
    } catch (...) {
      close(descriptor_);
      throw;
    }
  }
  ~File() { close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::string read() {
    std::string text;
    char buffer[65536];
    for (;;) {
      const auto at = static_cast<off_t>(text.size());
      const ssize_t count = retried([&] { return pread(descriptor_, buffer, sizeof buffer, at); });
      if (count < 0) fail_log(path_, "cannot be read: " + reason(errno));
      if (count == 0) return text;
      text.append(buffer, static_cast<std::size_t>(count));
    }
  }

  // From here on, what was there is dropped.
  void end_at(std::size_t size) {
    if (retried([&] { return ftruncate(descriptor_, static_cast<off_t>(size)); }) != 0) {
      fail_log(path_, "cannot be written: " + reason(errno));
    }
    size_ = size;
  }

  // The whole text, or nothing of it. If not even that can be cut off again it is a line without an
  // end, which the next line overwrites and the next program drops.
  void append(std::string_view text) {
    std::size_t written = 0;
    int error = 0;
    while (written < text.size() && error == 0) {
      const ssize_t count = retried([&] {
        return pwrite(descriptor_, text.data() + written, text.size() - written,
                      static_cast<off_t>(size_ + written));
      });
      if (count < 0) error = errno;
      if (count == 0) error = ENOSPC;
      if (count > 0) written += static_cast<std::size_t>(count);
    }
    if (error == 0 && retried([&] { return fsync(descriptor_); }) != 0) error = errno;
    if (error != 0) {
      [[maybe_unused]] const int cut =
          retried([&] { return ftruncate(descriptor_, static_cast<off_t>(size_)); });
      fail_log(path_, "cannot be written: " + reason(error));
    }
    size_ += text.size();
  }

 private:
  std::string path_;
  int descriptor_ = -1;
  std::size_t size_ = 0;
};

GridLog::GridLog(std::string path, const Json& header)
    : path_(std::move(path)), file_(std::make_shared<File>(path_)) {
  const std::string text = file_->read();
  if (text.empty()) {
    file_->append(with_checksum(header) + "\n");
    lines_ = 1;
    return;
  }
  const std::size_t end = text.rfind('\n') + 1;  // 0 if there is no complete line
  if (end == 0) fail_log(path_, "is no log of an experiment: it has no line");
  read_lines(text.substr(0, end), header);
  file_->end_at(end);
}

void GridLog::read_lines(const std::string& text, const Json& header) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t stop = text.find('\n', begin);
    const Json object = parse_line(path_, text.substr(begin, stop - begin), ++lines_);
    if (lines_ == 1) {
      check_header(path_, object, header);
    } else {
      add_entry(object, lines_);
    }
    begin = stop + 1;
  }
}

void GridLog::add_entry(const Json& entry, int line) {
  if (!entry.contains("configuration") || !entry.contains("measured")) {
    refuse(line, "it has no configuration");
  }
  const Json& measured = entry["measured"];
  const auto [at, is_new] =
      entries_.try_emplace(entry["configuration"].dump(), Entry{measured, line});
  if (!is_new && at->second.measured.dump() != measured.dump()) {
    refuse(line,
           fmt::format("line {} has the same configuration and another result", at->second.line));
  }
}

void GridLog::refuse(int line, const std::string& problem) const {
  fail_log(path_, fmt::format("has a fault in line {}: {}", line, problem));
}

const GridLog::Json* GridLog::find(const Json& configuration) const {
  const auto found = entries_.find(configuration.dump());
  return found == entries_.end() ? nullptr : &found->second.measured;
}

void GridLog::append(const Json& configuration, const Json& measured) {
  const Json entry = {{"configuration", configuration}, {"measured", measured}};
  file_->append(with_checksum(entry) + "\n");
  entries_.insert_or_assign(configuration.dump(), Entry{measured, ++lines_});
}

}  // namespace normlab
