#include "experiments/lab/runs/grid_log.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/lab/runs/retried.hpp"

using namespace normlab;
using Json = GridLog::Json;

namespace {

const Json kHeader = {{"experiment", "test"}, {"width", 8}};
const Json kConfiguration = {{"norm", "layernorm"}, {"seed", 3}};

Json with_seed(int seed) { return {{"norm", "layernorm"}, {"seed", seed}}; }

// A file name that nothing has; removed at the end.
struct LogFile {
  std::string path = (std::filesystem::temp_directory_path() /
                      ("normlab_grid_log_" + std::to_string(getpid()) + ".jsonl"))
                         .string();
  LogFile() { std::filesystem::remove(path); }
  ~LogFile() { std::filesystem::remove(path); }

  std::string text() const {
    std::ostringstream all;
    all << std::ifstream(path).rdbuf();
    return all.str();
  }
  void write(const std::string& text) const { std::ofstream(path) << text; }
};

// What opening the file says; empty if it can be opened.
std::string refusal(const std::string& path, const Json& header = kHeader) {
  try {
    const GridLog log(path, header);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

std::string log_of(const std::vector<std::pair<Json, Json>>& entries) {
  const LogFile file;
  {
    GridLog log(file.path, kHeader);
    for (const auto& [configuration, measured] : entries) log.append(configuration, measured);
  }
  return file.text();
}

void check_contains(const std::string& text, const std::string& part) {
  CHECK_MESSAGE(text.find(part) != std::string::npos, text);
}

}  // namespace

TEST_CASE("GridLog: what was appended is there when the file is opened again") {
  const LogFile file;
  {
    GridLog log(file.path, kHeader);
    CHECK(log.find(kConfiguration) == nullptr);
    log.append(kConfiguration, {{"loss", 0.1}});
    REQUIRE(log.find(kConfiguration) != nullptr);
  }
  const GridLog again(file.path, kHeader);
  REQUIRE(again.find(kConfiguration) != nullptr);
  CHECK(*again.find(kConfiguration) == Json{{"loss", 0.1}});
  CHECK(again.find(with_seed(4)) == nullptr);
}

TEST_CASE("GridLog: a line ends with the FNV-1a of the bytes before its checksum") {
  const LogFile file;
  file.write("");  // an empty file is started, as a missing one
  const GridLog log(file.path, kHeader);
  // Computed with Python's integers.
  CHECK(file.text() == "{\"experiment\":\"test\",\"width\":8,\"checksum\":\"0e1f77b928655d09\"}\n");
}

TEST_CASE("GridLog: a line cut short by a kill is dropped, and the next one is whole") {
  const LogFile file;
  const std::string whole = log_of({{kConfiguration, 1.0}});
  for (const std::size_t kept : {whole.size() - 1, whole.size() - 5}) {
    file.write(whole.substr(0, kept));
    {
      GridLog log(file.path, kHeader);
      CHECK(log.find(kConfiguration) == nullptr);
      log.append(kConfiguration, 2.0);
    }
    const GridLog again(file.path, kHeader);
    REQUIRE(again.find(kConfiguration) != nullptr);
    CHECK(*again.find(kConfiguration) == Json(2.0));
  }
}

TEST_CASE("GridLog: every flipped bit of a log is refused, with its line, or costs the last line") {
  const std::string whole = log_of({{kConfiguration, {{"loss", 2.25}}}, {with_seed(4), 1.5}});
  const LogFile file;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      file.write(flipped);
      CAPTURE(at);
      CAPTURE(bit);
      if (at + 1 == whole.size()) {  // without its end the last line is one that was cut short
        const GridLog log(file.path, kHeader);
        CHECK(log.find(kConfiguration) != nullptr);
        CHECK(log.find(with_seed(4)) == nullptr);
        continue;
      }
      const auto line =
          1 + std::count(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(at), '\n');
      check_contains(refusal(file.path), "line " + std::to_string(line));
      CHECK(file.text() == flipped);
    }
  }
}

TEST_CASE("GridLog: another header, another file or a broken line is refused and left alone") {
  const LogFile file;
  const auto refused = [&](const std::string& text, const char* part) {
    file.write(text);
    check_contains(refusal(file.path), part);
    CHECK(file.text() == text);
  };
  const std::string header = log_of({});
  refused("a,b\n1,2\n", "is no log of an experiment: line 1 ");
  refused("[1]\n", "line 1 is not an object");
  refused("no line end", "it has no line");
  refused(header + "{\"configuration\":1,\n", "line 2 ");
  refused(header + header, "has a fault in line 2: it has no configuration");
  refused(header + "{\"cell\":1,\"measured\":2}\n", "has no checksum in line 2");
  refused("{\"experiment\":\"test\",\"width\":8}\n", "has no checksum in line 1");
  refused(header + std::string(200000, '[') + "\n", "line 2 ");
  file.write(header);
  check_contains(refusal(file.path, {{"experiment", "test"}, {"width", 9}}),
                 "other options or of another version: width is 8 in place of 9");
}

TEST_CASE("GridLog: of two results of one configuration neither is taken") {
  const std::string one = log_of({{kConfiguration, 1.0}}), two = log_of({{kConfiguration, 2.0}});
  const std::string second_line = two.substr(two.find('\n') + 1);
  const LogFile file;
  file.write(one + second_line);
  check_contains(refusal(file.path),
                 "line 3: line 2 has the same configuration and another result");
  file.write(two + second_line);  // the same line again says nothing new
  CHECK(refusal(file.path) == "");
}

TEST_CASE("GridLog: a second program on one file is refused, and may have it afterwards") {
  const LogFile file;
  {
    GridLog first(file.path, kHeader);
    check_contains(refusal(file.path), "is in use by another program");
    check_contains(refusal(file.path, {{"experiment", "another"}}), "is in use by another program");
    first.append(kConfiguration, 1.0);
  }
  CHECK(refusal(file.path) == "");
}

TEST_CASE("GridLog: a pipe and devices are refused at once") {
  const LogFile file;
  REQUIRE(mkfifo(file.path.c_str(), 0600) == 0);
  check_contains(refusal(file.path), "is no regular file");
  check_contains(refusal("/dev/zero"), "is no regular file");
  check_contains(refusal("/dev/full"), "is no regular file");
  check_contains(refusal("/nonexistent/log.jsonl"), "cannot be opened: No such file or directory");
  check_contains(refusal(std::filesystem::temp_directory_path().string()), "cannot be opened");
}

TEST_CASE("GridLog: a line that can be written in part only is cut off, and the reason is told") {
  const LogFile file;
  GridLog log(file.path, kHeader);
  log.append(kConfiguration, 1.0);
  const std::string before = file.text();
  // No file may grow by more than ten bytes: the write is a short one, and the next one fails.
  rlimit limit{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{before.size() + 10, limit.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  std::string message;
  try {
    log.append(with_seed(4), 2.0);
  } catch (const std::runtime_error& error) {
    message = error.what();
  }
  REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  std::signal(SIGXFSZ, old_handler);
  check_contains(message, "cannot be written: File too large");
  CHECK(log.find(with_seed(4)) == nullptr);
  CHECK(file.text() == before);
  log.append(with_seed(5), 3.0);  // another worker's, which was under way
  const std::string after = file.text();
  CHECK(after.starts_with(before));
  CHECK(after == log_of({{kConfiguration, 1.0}, {with_seed(5), 3.0}}));
}

TEST_CASE("GridLog: a measurement that its reader refuses is told with file and line") {
  const LogFile file;
  GridLog log(file.path, kHeader);
  log.append(kConfiguration, nullptr);
  log.append(with_seed(4), 1.0);
  const auto use = [](const Json& measured) {
    if (measured.is_null()) throw std::runtime_error("no number");
  };
  CHECK(log.read(with_seed(4), use));
  CHECK_FALSE(log.read(with_seed(5), use));
  CHECK_THROWS_WITH_AS(log.read(kConfiguration, use),
                       doctest::Contains("has a fault in line 2: no number"), std::runtime_error);
}

TEST_CASE("retried: a call that a signal interrupts is made again, another fault is not") {
  int calls = 0;
  CHECK(retried([&] {
          errno = EINTR;
          return ++calls < 3 ? -1 : 7;
        }) == 7);
  CHECK(calls == 3);
  CHECK(retried([&] {
          errno = EIO;
          ++calls;
          return -1;
        }) == -1);
  CHECK(calls == 4);
}
