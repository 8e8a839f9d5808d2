// Tested by tests/core/atomic_file_test.cpp.
#include "core/atomic_file.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
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
    struct stat existing {};  // a file that is replaced keeps its permissions
    if (stat(final_path_.c_str(), &existing) == 0) fchmod(descriptor_, existing.st_mode & 07777);
    if (fsync(descriptor_) != 0) fail_writing(final_path_, errno);
    if (std::rename(path_.c_str(), final_path_.c_str()) != 0) fail_writing(final_path_, errno);
    kept_ = true;
  }

 private:
  std::string path_, final_path_;
  int descriptor_ = -1;
  bool kept_ = false;
};

// Renaming onto a symbolic link would replace the link and leave the file it names as it was.
std::string without_links(const std::string& path) {
  std::error_code error;
  const auto target = std::filesystem::canonical(path, error);
  return error ? path : target.string();
}

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
  if (path.empty()) fail_writing(path, ENOENT);
  if (access(path.c_str(), F_OK) == 0 && access(path.c_str(), W_OK) != 0) fail_writing(path, errno);
  if (is_device(path)) return;
  std::error_code ignored;  // opening tells what is wrong
  if (std::filesystem::is_directory(path, ignored)) fail_writing(path, EISDIR);
  const std::string target = without_links(path);
  const TemporaryFile probe(temporary_name(target), target);
}

void write_atomically(const std::string& path, std::string_view text) {
  if (is_device(path)) {
    write_to_device(path, text);
    return;
  }
  const std::string target = without_links(path);
  TemporaryFile file(temporary_name(target), target);
  file.write(text);
  file.keep();
}

}  // namespace normlab
