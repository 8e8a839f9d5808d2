#include "core/atomic_file.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace normlab;
namespace fs = std::filesystem;

namespace {

// An empty folder that is gone when the test ends, however it ends.
class TemporaryFolder {
 public:
  TemporaryFolder() { fs::create_directory(path_); }
  ~TemporaryFolder() { fs::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }
  auto entries() const { return std::distance(fs::directory_iterator(path_), {}); }

 private:
  fs::path path_ =
      fs::temp_directory_path() /
      fmt::format("normlab_atomic_file_test_{}_{}", getpid(), static_cast<const void*>(this));
};

// Files of this process can grow no further than this while it lives: a disk that is full.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = std::signal(SIGXFSZ, SIG_IGN);
};

void write(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void check_refused(const std::function<void()>& call, const std::string& message_start) {
  std::string message = "nothing was thrown";
  try {
    call();
  } catch (const std::runtime_error& error) {
    message = error.what();
  }
  CHECK_MESSAGE(message.starts_with(message_start), message, " should start with ", message_start);
  CHECK_MESSAGE(message.find("HINT: ") != std::string::npos, message);
}

}  // namespace

TEST_CASE("write_atomically: the file holds the text, and nothing else is left") {
  const TemporaryFolder folder;
  for (const std::string& text : {std::string("one\n"), std::string(), std::string(100'000, 'x')}) {
    write_atomically(folder.file("out.json"), text);
    CHECK(read(folder.file("out.json")) == text);
  }
  CHECK(folder.entries() == 1);
}

TEST_CASE("write_atomically: a path relative to the working directory") {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  write_atomically("plain.json", "text");
  fs::current_path(before);
  CHECK(read(folder.file("plain.json")) == "text");
}

TEST_CASE("write_atomically: when writing fails, the file that was there stays") {
  const TemporaryFolder folder;
  const std::string path = folder.file("out.json");
  write(path, "old");
  {
    const FullDisk disk(1000);
    check_refused([&] { write_atomically(path, std::string(5000, 'x')); },
                  "[output] " + path + ": cannot be written: File too large");
  }
  CHECK(read(path) == "old");
  CHECK(folder.entries() == 1);
}

TEST_CASE("write_atomically: a file that is replaced keeps its permissions") {
  const TemporaryFolder folder;
  const std::string path = folder.file("out.json");
  write(path, "old");
  for (const unsigned mode : {0600U, 0640U, 0666U, 0755U}) {
    fs::permissions(path, static_cast<fs::perms>(mode));
    write_atomically(path, "new");
    CHECK(static_cast<unsigned>(fs::status(path).permissions()) == mode);
  }
  CHECK(read(path) == "new");
}

TEST_CASE("write_atomically: a symbolic link goes on naming the file, which changes") {
  const TemporaryFolder folder;
  fs::create_directory(folder.file("elsewhere"));
  write(folder.file("elsewhere/target.json"), "old");
  fs::create_symlink("elsewhere/target.json", folder.file("link.json"));
  check_writable(folder.file("link.json"));
  write_atomically(folder.file("link.json"), "new");
  CHECK(fs::is_symlink(folder.file("link.json")));
  CHECK(read(folder.file("elsewhere/target.json")) == "new");
}

TEST_CASE("write_atomically: a link to a file that does not exist yet makes that file") {
  const TemporaryFolder folder;
  fs::create_directory(folder.file("elsewhere"));
  fs::create_symlink("elsewhere/target.json", folder.file("middle.json"));
  fs::create_symlink("middle.json", folder.file("link.json"));
  check_writable(folder.file("link.json"));
  CHECK_FALSE(fs::exists(folder.file("elsewhere/target.json")));
  write_atomically(folder.file("link.json"), "new");
  CHECK(fs::is_symlink(folder.file("link.json")));
  CHECK(fs::is_symlink(folder.file("middle.json")));
  CHECK(read(folder.file("elsewhere/target.json")) == "new");
}

TEST_CASE("write_atomically: links that name one another are refused") {
  const TemporaryFolder folder;
  fs::create_symlink("b.json", folder.file("a.json"));
  fs::create_symlink("a.json", folder.file("b.json"));
  check_refused([&] { write_atomically(folder.file("a.json"), "new"); },
                "[output] " + folder.file("a.json") +
                    ": cannot be written: Too many levels of symbolic links");
}

TEST_CASE("write_atomically: a link prepared under the temporary name is not followed") {
  const TemporaryFolder folder;
  write(folder.file("victim"), "precious");
  for (int i = 0; i < 40; ++i) {  // the names that come next, and some that are used already
    fs::create_symlink("victim", folder.file(fmt::format("normlab-{}-{}.tmp", getpid(), i)));
  }
  fs::create_symlink("victim", folder.file(fmt::format("out.json.tmp{}", getpid())));
  const auto entries = folder.entries();
  write_atomically(folder.file("out.json"), "new");
  CHECK(read(folder.file("out.json")) == "new");
  CHECK(read(folder.file("victim")) == "precious");
  CHECK(folder.entries() == entries + 1);
}

TEST_CASE("write_atomically: a name may be as long as the file system allows") {
  const TemporaryFolder folder;
  const std::string path = folder.file(std::string(255, 'n'));
  check_writable(path);
  write_atomically(path, "text");
  CHECK(read(path) == "text");
}

TEST_CASE("check_writable: makes no file and leaves the one that is there") {
  const TemporaryFolder folder;
  check_writable(folder.file("new.json"));
  CHECK(folder.entries() == 0);
  write(folder.file("old.json"), "old");
  check_writable(folder.file("old.json"));
  CHECK(read(folder.file("old.json")) == "old");
  CHECK(folder.entries() == 1);
}

TEST_CASE("check_writable: what cannot be written is named with the reason") {
  const TemporaryFolder folder;
  write(folder.file("file"), "");
  const std::string missing = folder.file("missing/out.json");
  const std::string below_file = folder.file("file/out.json");
  const std::string long_name = folder.file(std::string(300, 'n'));
  for (const auto& call :
       {check_writable, +[](const std::string& path) { write_atomically(path, "text"); }}) {
    const auto refused = [&](const std::string& path, const std::string& reason) {
      check_refused([&] { call(path); }, "[output] " + path + ": cannot be written: " + reason);
    };
    refused(missing, "No such file or directory");
    refused(below_file, "Not a directory");
    refused(long_name, "File name too long");
    refused(folder.path(), "Is a directory");
  }
  check_refused([] { check_writable(""); }, "[output] : cannot be written: No such file");
  CHECK(folder.entries() == 1);
}

TEST_CASE("check_writable: a folder or file without write permission") {
  const TemporaryFolder folder;
  fs::create_directory(folder.file("locked"));
  write(folder.file("read_only.json"), "old");
  fs::permissions(folder.file("locked"), static_cast<fs::perms>(0555));
  fs::permissions(folder.file("read_only.json"), static_cast<fs::perms>(0444));
  // Permissions do not bind root: the answer has to be what the system lets this user do.
  const bool bound = geteuid() != 0;
  for (const std::string& path : {folder.file("locked/out.json"), folder.file("read_only.json")}) {
    CAPTURE(path);
    if (bound) {
      check_refused([&] { check_writable(path); },
                    "[output] " + path + ": cannot be written: Permission denied");
    } else {
      CHECK_NOTHROW(check_writable(path));
    }
  }
  fs::permissions(folder.file("locked"), static_cast<fs::perms>(0755));
}

TEST_CASE("write_atomically: a device is written to and stays a device") {
  check_writable("/dev/null");
  write_atomically("/dev/null", "text");
  CHECK(fs::is_character_file("/dev/null"));
  check_writable("/dev/full");
  check_refused([] { write_atomically("/dev/full", "text"); },
                "[output] /dev/full: cannot be written: No space left on device");
}
