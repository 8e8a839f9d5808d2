#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "data/text/parallel_text.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

// Two files that are removed at the end of the test, even if it fails.
class TwoFiles {
 public:
  TwoFiles(std::string_view source, std::string_view target) {
    std::filesystem::create_directory(folder_);
    std::ofstream(this->source(), std::ios::binary) << source;
    std::ofstream(this->target(), std::ios::binary) << target;
  }
  ~TwoFiles() { std::filesystem::remove_all(folder_); }
  TwoFiles(const TwoFiles&) = delete;
  TwoFiles& operator=(const TwoFiles&) = delete;

  std::string source() const { return (folder_ / "text.de").string(); }
  std::string target() const { return (folder_ / "text.en").string(); }
  ParallelText read() const { return read_parallel_text(source(), target()); }
  FilteredText read(const PairFilter& filter) const {
    return read_parallel_text(source(), target(), filter);
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      fmt::format("normlab_parallel_text_test_{}", static_cast<const void*>(this));
};

std::string reading_error(const std::string& source, const std::string& target) {
  try {
    read_parallel_text(source, target);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

void check_fault(std::string_view source, std::string_view target, bool in_target,
                 const std::string& place_and_fault) {
  const TwoFiles files(source, target);
  const std::string expected =
      "[read_parallel_text] " + (in_target ? files.target() : files.source()) + place_and_fault;
  const std::string message = reading_error(files.source(), files.target());
  CHECK_MESSAGE(message.starts_with(expected), message, " should start with ", expected);
  CHECK_MESSAGE(message.find(". HINT: ") != std::string::npos, message);
}

}  // namespace

TEST_CASE("read_parallel_text: line ends of every kind, byte order marks, and spaces kept") {
  const std::vector<std::string> source{"schöner Tag", " zwei  Räume "},
      target{"nice day", "two\trooms"};
  for (const auto& [a, b] : {std::pair("schöner Tag\n zwei  Räume \n", "nice day\ntwo\trooms\n"),
                             std::pair("schöner Tag\n zwei  Räume ", "nice day\r\ntwo\trooms\r\n"),
                             std::pair("\xEF\xBB\xBFschöner Tag\r\n zwei  Räume ",
                                       "\xEF\xBB\xBFnice day\r\ntwo\trooms")}) {
    const ParallelText text = TwoFiles(a, b).read();
    CHECK(text.source == source);
    CHECK(text.target == target);
  }
}

TEST_CASE("read_parallel_text: every fault is named with its file and line") {
  const TwoFiles files("a\n", "b\n");
  const std::string folder = std::filesystem::path(files.source()).parent_path().string();
  CHECK(reading_error("no/such/text.de", files.target())
            .starts_with("[read_parallel_text] no/such/text.de: cannot be read. HINT: "));
  CHECK(reading_error(files.source(), "no/such/text.en")
            .starts_with("[read_parallel_text] no/such/text.en: cannot be read. HINT: "));
  CHECK(reading_error(folder, files.target())
            .starts_with("[read_parallel_text] " + folder + ": cannot be read"));

  check_fault("", "b\n", false, ": the file is empty");
  check_fault("a\n", "\xEF\xBB\xBF", true, ": the file is empty");
  check_fault("a\n\nc\n", "a\nb\nc\n", false, ":2: the line is empty");
  check_fault("a\nb\n", "a\n \t\r\n", true, ":2: the line is empty");
  check_fault("a\n\n", "a\n", false, ":2: the line is empty");  // an extra line end
  check_fault("a\nb\n", "good\nna\xEFve\n", true, ":2: byte 3 of the line, 0xef, is not UTF-8");
  check_fault(
      "\xFF\xFE"
      "a\n",
      "b\n", false, ":1: byte 1 of the line, 0xff, is not UTF-8");  // UTF-16
}

TEST_CASE("read_parallel_text: the error for files of different lengths gives both counts") {
  const TwoFiles files("a\nb\nc\n", "a\nb\nc\nd\ne\n");
  CHECK(
      reading_error(files.source(), files.target())
          .starts_with(fmt::format("[read_parallel_text] {1}:4: the line has no partner, {0} has 3 "
                                   "lines and {1} has 5. HINT: ",
                                   files.source(), files.target())));
  check_fault("a\nb\n", "a\n", false, ":2: the line has no partner");
}

TEST_CASE("read_parallel_text: only LF and CRLF end a line, as in no reader of Unicode lines") {
  // Line and paragraph separator, next line, vertical tab, form feed, and a carriage return alone.
  const std::string first = "a\u2028b\u2029c\u0085d\ve\ff", last = "g\rh";
  const ParallelText text = TwoFiles(first + "\nx\r\n" + last + "\n", "1\n2\n3\n").read();
  CHECK(text.source == std::vector<std::string>{first, "x", last});
}

TEST_CASE("read_parallel_text: all faults are counted, and ten of them named with their lines") {
  std::string source, target;
  for (int line = 1; line <= 30; ++line) {
    source += line % 3 == 0 ? "\n" : "a\n";        // lines 3, 6, ... 30
    target += line % 10 == 0 ? "b\xFF\n" : "b\n";  // lines 10, 20, 30
  }
  target += "c\n";
  const TwoFiles files(source, target);
  std::string expected = "[read_parallel_text] ";
  for (int line = 3; line <= 30; line += 3) {
    expected += fmt::format("{}:{}: the line is empty{}; ", files.source(), line,
                            line == 3 ? " (the first of 14 faults)" : "");
  }
  CHECK(reading_error(files.source(), files.target()).starts_with(expected + "and 4 more. HINT: "));

  const TwoFiles two("a\n\xE9\n", "b\n\n");
  CHECK(reading_error(two.source(), two.target())
            .starts_with(fmt::format("[read_parallel_text] {}:2: byte 1 of the line, 0xe9, is not "
                                     "UTF-8 (the first of 2 faults); {}:2: the line is empty. "
                                     "HINT: convert the file",
                                     two.source(), two.target())));
}

TEST_CASE("read_parallel_text: one empty line among 10,000 can be skipped") {
  std::string source, target;
  for (int line = 0; line < 10'000; ++line) {
    source += line == 5000 ? "\n" : fmt::format("s{}\n", line);
    target += fmt::format("t{}\n", line);
  }
  const FilteredText filtered = TwoFiles(source, target).read({.skip_empty = true});
  CHECK(filtered.text.size() == 9999);
  CHECK(filtered.text.source[5000] == "s5001");
  CHECK(filtered.text.target[5000] == "t5001");
  CHECK(filtered.empty == 1);
  CHECK(filtered.too_long == 0);
}

TEST_CASE("read_parallel_text: pairs with an empty or a too long side are skipped and counted") {
  // Lengths are in characters: the four letters of the first line take eight bytes.
  const TwoFiles files("äöüß\nb\n \t\nlonger\nd\n", "a\n\n\nc\nlonger\n");
  const FilteredText both = files.read({.skip_empty = true, .max_length = 4});
  CHECK(both.text.source == std::vector<std::string>{"äöüß"});
  CHECK(both.text.target == std::vector<std::string>{"a"});
  CHECK(both.empty == 2);
  CHECK(both.too_long == 2);
  CHECK(files.read({.skip_empty = true, .max_length = 6}).text.size() == 3);
  CHECK(TwoFiles("aa\nb\n", "a\nb\n").read({.max_length = 1}).too_long == 1);

  const auto error = [](const TwoFiles& text, const PairFilter& filter) {
    std::string message = "nothing was thrown";
    try {
      text.read(filter);
    } catch (const std::runtime_error& thrown) {
      message = thrown.what();
    }
    return message;
  };
  // Other faults of the files are still reported.
  CHECK(error(files, {.max_length = 4})
            .starts_with(fmt::format("[read_parallel_text] {}:3: the line is empty (the first of 3 "
                                     "faults)",
                                     files.source())));
  CHECK(error(TwoFiles("\xFF\n", "\n"), {.skip_empty = true}).find("not UTF-8") !=
        std::string::npos);
  CHECK(error(TwoFiles("a\n\n", "a\n"), {.skip_empty = true}).find("has no partner") !=
        std::string::npos);
  CHECK(error(files, {.skip_empty = true, .max_length = 1})
            .find(": no pair is left: 2 empty and 3 too long pairs were skipped. HINT: ") !=
        std::string::npos);
  check_refused([&] { files.read({.max_length = 0}); },
                "[read_parallel_text] max_length: must be positive, got 0");
}
