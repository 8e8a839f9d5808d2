// Tested by tests/core/atomic_file_test.cpp.
#include "core/atomic_file.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/check.hpp"

namespace normlab {

namespace {

[[noreturn]] void fail_writing(const std::string& path, int error) {
  fail_file("output", path, "cannot be written: " + std::generic_category().message(error),
            "name a file in an existing folder that you may write to");
}

// Calls f again for as long as a signal interrupts it. A negative result is an error, in errno.
template <typename F>
auto retried(F f) {
  auto result = f();
  while (result < 0 && errno == EINTR) result = f();
  return result;
}

// A descriptor that is closed at the end. Errors name `path`.
class OpenFile {
 public:
  OpenFile(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int descriptor() const { return descriptor_; }

  void write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written =
          retried([&] { return ::write(descriptor_, text.data(), text.size()); });
      if (written < 0) fail_writing(path_, errno);
      if (written == 0) fail_writing(path_, ENOSPC);
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  // Some file systems report a failed write only here. After EINTR the descriptor is closed, too.
  void close() {
    const int descriptor = std::exchange(descriptor_, -1);
    if (::close(descriptor) != 0 && errno != EINTR) fail_writing(path_, errno);
  }

 private:
  int descriptor_;
  std::string path_;
};

// A new file beside `target`, removed at the end unless it took the target's place.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target)
      : target_(target.string()), path_(unused_name(target)), file_(create(), target_) {}
  ~TemporaryFile() {
    if (!path_.empty()) std::remove(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(std::string_view text) { file_.write(text); }

  void take_place_of_target() {
    struct stat existing {};  // a file that is replaced keeps its permissions
    if (stat(target_.c_str(), &existing) == 0) fchmod(file_.descriptor(), existing.st_mode & 07777);
    if (retried([&] { return fsync(file_.descriptor()); }) != 0) fail_writing(target_, errno);
    file_.close();
    if (std::rename(path_.c_str(), target_.c_str()) != 0) fail_writing(target_, errno);
    path_.clear();
  }

 private:
  static std::string unused_name(const std::filesystem::path& target) {
    static std::atomic<unsigned> count{0};
    return (target.parent_path() / fmt::format("normlab-{}-{}.tmp", getpid(), count++)).string();
  }

  // Exclusively and without following a link: whatever stands under that name is not ours.
  int create() {
    constexpr int kMostAttempts = 100;
    for (int attempt = 0;; ++attempt) {
      const int descriptor = retried([&] {
        return open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
      });
      if (descriptor >= 0) return descriptor;
      const int error = errno;
      const std::string taken = std::exchange(path_, "");  // not to be removed
      if (error != EEXIST || attempt == kMostAttempts) fail_writing(target_, error);
      path_ = unused_name(taken);
    }
  }

  std::string target_, path_;
  OpenFile file_;
};

// The file that `path` names in the end: renaming onto a symbolic link would replace the link. The
// last link may name a file that does not exist yet.
std::filesystem::path without_links(const std::string& path) {
  std::filesystem::path target = path;
  std::error_code error;
  constexpr int kMostLinks = 40;  // as Linux has it
  for (int links = 0; std::filesystem::is_symlink(target, error); ++links) {
    if (links == kMostLinks) fail_writing(path, ELOOP);
    target = target.parent_path() / std::filesystem::read_symlink(target, error);
    if (error) fail_writing(path, error.value());
  }
  return target;
}

bool is_device(const std::string& path) {
  std::error_code ignored;
  const auto type = std::filesystem::status(path, ignored).type();
  using std::filesystem::file_type;
  return type == file_type::character || type == file_type::fifo || type == file_type::socket;
}

void write_to_device(const std::string& path, std::string_view text) {
  const int descriptor = retried([&] { return open(path.c_str(), O_WRONLY | O_CLOEXEC); });
  if (descriptor < 0) fail_writing(path, errno);
  OpenFile device(descriptor, path);
  device.write(text);
  device.close();
}

}  // namespace

void check_writable(const std::string& path) {
  if (path.empty()) fail_writing(path, ENOENT);
  if (access(path.c_str(), F_OK) == 0 && access(path.c_str(), W_OK) != 0) fail_writing(path, errno);
  if (is_device(path)) return;
  std::error_code ignored;  // opening tells what is wrong
  if (std::filesystem::is_directory(path, ignored)) fail_writing(path, EISDIR);
  const std::filesystem::path target = without_links(path);
  const std::size_t longest = 255;  // bytes of a name; the probe's own name is short
  if (target.filename().string().size() > longest) fail_writing(path, ENAMETOOLONG);
  const TemporaryFile probe(target);
}

void write_atomically(const std::string& path, std::string_view text) {
  if (is_device(path)) {
    write_to_device(path, text);
    return;
  }
  TemporaryFile file(without_links(path));
  file.write(text);
  file.take_place_of_target();
}

}  // namespace normlab
