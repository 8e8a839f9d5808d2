// Tested by tests/experiments/atomic_file_test.cpp.
#include "experiments/atomic_file.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "core/check.hpp"

namespace normlab {

namespace {

[[noreturn]] void fail_writing(const std::string& path, int error) {
  fail_file("output", path, "cannot be written: " + std::generic_category().message(error),
            "name a file in an existing folder that you may write to");
}

// A file descriptor that is closed at the end, and a file that is removed unless it was kept.
class TemporaryFile {
 public:
  TemporaryFile(std::string path, std::string final_path)
      : path_(std::move(path)), final_path_(std::move(final_path)) {
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail_writing(final_path_, errno);
  }
  ~TemporaryFile() {
    if (descriptor_ >= 0) close(descriptor_);
    if (!kept_) std::remove(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail_writing(final_path_, errno);
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  void keep() {
    if (fsync(descriptor_) != 0) fail_writing(final_path_, errno);
    if (std::rename(path_.c_str(), final_path_.c_str()) != 0) fail_writing(final_path_, errno);
    kept_ = true;
  }

 private:
  std::string path_, final_path_;
  int descriptor_ = -1;
  bool kept_ = false;
};

std::string temporary_name(const std::string& path) {
  return path + ".tmp" + std::to_string(getpid());
}

bool is_device(const std::string& path) {
  std::error_code ignored;
  const auto type = std::filesystem::status(path, ignored).type();
  using std::filesystem::file_type;
  return type == file_type::character || type == file_type::fifo || type == file_type::socket;
}

void write_to_device(const std::string& path, std::string_view text) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) fail_writing(path, errno);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int error = errno;
  if (std::fclose(file) != 0 || !written) fail_writing(path, written ? errno : error);
}

}  // namespace

void check_writable(const std::string& path) {
  if (is_device(path)) return;
  if (path.empty() || std::filesystem::is_directory(path)) fail_writing(path, EISDIR);
  const TemporaryFile probe(temporary_name(path), path);
}

void write_atomically(const std::string& path, std::string_view text) {
  if (is_device(path)) {
    write_to_device(path, text);
    return;
  }
  TemporaryFile file(temporary_name(path), path);
  file.write(text);
  file.keep();
}

}  // namespace normlab
