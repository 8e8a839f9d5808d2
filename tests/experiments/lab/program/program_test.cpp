#include "experiments/lab/program/program.hpp"

#include <filesystem>
#include <fstream>
#include <new>
#include <sstream>
#include <stdexcept>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

using namespace normlab;
using namespace normlab::lab;

namespace {

// A file descriptor of this process leads elsewhere for as long as it lives.
class Redirected {
 public:
  Redirected(int descriptor, const std::string& path)
      : descriptor_(descriptor), before_(dup(descriptor)) {
    std::fflush(nullptr);
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(file, descriptor);
    close(file);
  }
  ~Redirected() {
    std::fflush(nullptr);
    dup2(before_, descriptor_);
    close(before_);
    std::clearerr(stdout);
    std::clearerr(stderr);
  }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;

 private:
  int descriptor_, before_;
};

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "normlab-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

Results found() {
  Results results{.title = "A page", .heading = "heading"};
  results.tables = {{.key = "t", .title = "", .columns = {{"x", "x"}}, .rows = {{0.5}}}};
  return results;
}

struct Ended {
  int code;
  std::string out, err;
};

using Measure = std::function<Results(const Run&)>;

// Runs a program with an option --width; `out` is where its standard output goes.
Ended run(std::vector<std::string> arguments, const Measure& measure = {},
          const std::function<void()>& check = {}, std::string out = "") {
  const Folder folder;
  if (out.empty()) out = folder / "out";
  arguments.insert(arguments.begin(), "/somewhere/bin/sample");
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  int code = -1;
  {
    const Redirected output(STDOUT_FILENO, out), errors(STDERR_FILENO, folder / "err");
    std::int64_t width = 8;
    Program program(
        {.name = "sample", .description = "About", .exit_codes = "End", .resume = "log"},
        static_cast<int>(argv.size()), argv.data());
    program.options().add("--width", width, Whole{1, 99}, "width d");
    code = program.run(
        check, measure ? measure : [](const Run&) { return found(); });
  }
  return {code, out == "/dev/full" ? "" : contents(out), contents(folder / "err")};
}

template <typename Error>
Measure fails_with(const Error& error) {
  return [error](const Run&) -> Results { throw error; };
}

}  // namespace

TEST_CASE("program: results are printed, and their code is the exit code") {
  const Ended ended = run({});
  CHECK(ended.code == 0);
  CHECK(ended.out.ends_with(" | heading\n\n  x\n0.5\n"));
  CHECK(ended.err.empty());
  const Ended failed = run({}, [](const Run&) {
    Results results = found();
    results.exit_code = kCheckFailed;
    results.exit_message = "a check failed";
    return results;
  });
  CHECK(failed.code == 1);
  CHECK(failed.out == ended.out);
  CHECK(failed.err == "sample: a check failed\n");
}

TEST_CASE("program: what is thrown is one line and exit code 2") {
  const auto ended_by = [](const Measure& measure) {
    const Ended ended = run({}, measure);
    CHECK(ended.code == 2);
    CHECK(ended.out.empty());
    return ended.err;
  };
  CHECK(ended_by(fails_with(std::runtime_error("no data"))) == "sample: no data\n");
  // Errors about options start with the program's name as it is.
  CHECK(ended_by(fails_with(std::invalid_argument("[sample] --width: odd"))) ==
        "sample: --width: odd\n");
  CHECK(ended_by(fails_with(std::bad_alloc())) ==
        "sample: not enough memory: use fewer --threads or smaller sizes\n");
}

TEST_CASE("program: a refused check or command line ends it before any work") {
  bool worked = false;
  const Measure measure = [&](const Run&) {
    worked = true;
    return found();
  };
  const Ended checked =
      run({}, measure, [] { throw std::invalid_argument("[sample] --width: odd"); });
  CHECK(checked.code == 2);
  CHECK(checked.err == "sample: --width: odd\n");
  const Ended usage = run({"--wdith", "8"}, measure);
  CHECK(usage.code == 2);
  CHECK(usage.err ==
        "sample: The following argument was not expected: --wdith; did you mean --width? (see "
        "--help)\n");
  const Folder folder;
  CHECK(run({"--json", folder / "a", "--report", folder / "a"}, measure).code == 2);
  CHECK(run({"--json", "/nonexistent/a.json"}, measure).code == 2);
  CHECK(run({"--help"}, measure).code == 0);
  CHECK(run({"--version"}, measure).out.starts_with("normlab "));
  CHECK_FALSE(worked);
}

TEST_CASE("program: an interrupted one says how to go on, and ends with 75") {
  const Ended lost = run({}, fails_with(Interrupted()));
  CHECK(lost.code == 75);
  CHECK(lost.err == "sample: interrupted: nothing is kept without --resume\n");
  const Folder folder;
  const std::string log = folder / "log";
  const Ended kept = run({"--resume", log}, fails_with(Interrupted()));
  CHECK(kept.code == 75);
  CHECK(kept.err == "sample: interrupted: the same command goes on from " + log + "\n");
}

TEST_CASE("program: files are written before anything is printed, so that a full disk loses less") {
  const Folder folder;
  const std::string json = folder / "a.json", page = folder / "a.html";
  const Ended ended = run({"--json", json, "--report", page}, {}, {}, "/dev/full");
  CHECK(ended.code == 2);
  CHECK(ended.err.find("standard output: cannot be written") != std::string::npos);
  CHECK(contents(json).find("\"experiment\": \"sample\"") != std::string::npos);
  CHECK(contents(json).find("\"width\": 8") != std::string::npos);
  CHECK(contents(page).find("<h1>A page</h1>") != std::string::npos);
  // Folders stay private.
  CHECK(contents(page).find("<code>sample --json a.json --report a.html</code>") !=
        std::string::npos);
}

TEST_CASE("program: settings of its own stand in the options' places or after them") {
  const Folder folder;
  const std::string json = folder / "a.json";
  run({"--json", json, "--quiet"}, [](const Run&) {
    Results results = found();
    results.config = {{"depth", "depth", std::int64_t{3}}, {"width", "width", std::int64_t{16}}};
    return results;
  });
  CHECK(contents(json).find("\"config\": {\n  \"width\": 16,\n  \"depth\": 3\n }") !=
        std::string::npos);
}

TEST_CASE("program: quiet prints nothing, and the run is told how it is run") {
  const Ended ended = run({"--quiet", "--threads", "3", "--resume", "log"}, [](const Run& run) {
    CHECK(run.quiet);
    CHECK(run.threads == 3);
    CHECK(run.resume == "log");
    CHECK(static_cast<bool>(run.progress));
    return found();
  });
  CHECK(ended.code == 0);
  CHECK(ended.out.empty());
}

TEST_CASE("say: a full standard error loses the line and nothing else") {
  const Redirected errors(STDERR_FILENO, "/dev/full");
  CHECK_NOTHROW(say("lost"));
}
