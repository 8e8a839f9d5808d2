#include "data/digits.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "data/embedded.hpp"
#include "tests/support/decimal_comma.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

// 64 pixels, all equal to `pixel` except the first, and the label.
std::string csv_line(const std::string& first_pixel, const std::string& label,
                     const std::string& pixel = "0") {
  std::string line = first_pixel;
  for (int i = 1; i < 64; ++i) line += "," + pixel;
  return line + "," + label;
}

void check_unreadable(const std::function<void()>& call, const std::string& message_start) {
  std::string message = "nothing was thrown";
  try {
    call();
  } catch (const std::runtime_error& error) {
    message = error.what();
  }
  CHECK_MESSAGE(message.starts_with(message_start), message, " should start with ", message_start);
  CHECK_MESSAGE(message.find("HINT: ") != std::string::npos, message);
}

// A file that is removed at the end of the test, even if it fails.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view text) { std::ofstream(path_, std::ios::binary) << text; }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_ =
      std::filesystem::temp_directory_path() /
      fmt::format("normlab_digits_test_{}.csv", static_cast<const void*>(this));
};

}  // namespace

TEST_CASE("load_digits: 1,797 images of ten classes, the first two as in the file") {
  const Digits digits = load_digits();
  CHECK(digits.images.shape().str() == "(1797, 8, 8)");
  CHECK(digits.size() == 1797);
  std::vector<int> counts(10, 0);
  for (const std::int64_t label : digits.labels) ++counts.at(static_cast<std::size_t>(label));
  CHECK(counts == std::vector<int>{178, 182, 177, 183, 181, 182, 181, 179, 174, 180});
  const Tensor first(
      {1, 8, 8}, {0, 0,  5, 13, 9,  1, 0,  0, 0,  0,  13, 15, 10, 15, 5, 0,  0,  3, 15, 2, 0,  11,
                  8, 0,  0, 4,  12, 0, 0,  8, 8,  0,  0,  5,  8,  0,  0, 9,  8,  0, 0,  4, 11, 0,
                  1, 12, 7, 0,  0,  2, 14, 5, 10, 12, 0,  0,  0,  0,  6, 13, 10, 0, 0,  0});
  CHECK(max_abs_difference(digits.range(0, 1).images, first) == 0.0);
  CHECK(digits.labels[0] == 0);
  CHECK(digits.images.at({1, 2, 3}) == 15.0);
  CHECK(digits.labels[1] == 1);
  CHECK(digits.images.at({1796, 7, 3}) == 12.0);
  CHECK(digits.labels[1796] == 8);
}

TEST_CASE("load_digits: the embedded copy equals a file with the same text") {
  const TemporaryFile file(embedded_digits_csv());
  const Digits embedded = load_digits(), read = load_digits(file.path());
  CHECK(max_abs_difference(read.images, embedded.images) == 0.0);
  CHECK(read.labels == embedded.labels);
}

TEST_CASE("load_digits: the error for a file that cannot be read names it") {
  check_unreadable([] { load_digits("no/such/file.csv"); },
                   "[load_digits] no/such/file.csv: cannot be read");
  const std::string directory = std::filesystem::temp_directory_path().string();
  check_unreadable([&] { load_digits(directory); },
                   "[load_digits] " + directory + ": cannot be read");
  const TemporaryFile empty("");
  check_unreadable([&] { load_digits(empty.path()); },
                   "[load_digits] " + empty.path() + ":1: there are no images");
}

TEST_CASE("parse_digits: LF, CRLF, blank lines, and no line end at the end") {
  const std::string one = csv_line("3", "7"), two = csv_line("16", "0", "1.5");
  const Digits expected = parse_digits(one + "\n" + two + "\n", "test");
  CHECK(expected.labels == std::vector<std::int64_t>{7, 0});
  CHECK(expected.images.at({0, 0, 0}) == 3.0);
  CHECK(expected.images.at({1, 0, 0}) == 16.0);
  CHECK(expected.images.at({1, 7, 7}) == 1.5);
  for (const std::string& text :
       {one + "\n" + two, one + "\r\n" + two + "\r\n", one + "\r\n" + two, one + "\n\n" + two}) {
    CAPTURE(text);
    const Digits got = parse_digits(text, "test");
    CHECK(got.labels == expected.labels);
    CHECK(max_abs_difference(got.images, expected.images) == 0.0);
  }
}

TEST_CASE("load_digits: a blank last line is ignored, and a comment on top is refused") {
  // Copies of the files of the UCI repository have both.
  const std::string csv(embedded_digits_csv());
  CHECK(load_digits(TemporaryFile(csv + "\n").path()).size() == 1797);
  const TemporaryFile commented("# handwritten digits\n" + csv);
  check_unreadable(
      [&] { load_digits(commented.path()); },
      "[load_digits] " + commented.path() + ":1: field 1 is not a number: '# handwritten digits'");
}

TEST_CASE("parse_digits: the error for a fault names its line") {
  const std::string good = csv_line("0", "1") + "\n";
  const std::vector<std::pair<std::string, std::string>> faults{
      {"1,2,3", "has 3 fields instead of 65"},
      {csv_line("0", "1,2"), "has 66 fields instead of 65"},
      {csv_line("x", "1"), "field 1 is not a number: 'x'"},
      {csv_line("3x", "1"), "field 1 is not a number: '3x'"},
      {csv_line(" 3", "1"), "field 1 is not a number: ' 3'"},
      {csv_line("", "1"), "field 1 is not a number: ''"},
      {csv_line("0", ""), "field 65 is not a number: ''"},
      {csv_line("1e999", "1"), "field 1 is not a number: '1e999'"},
      {csv_line("17", "1"), "pixel 1 is 17, outside 0..16"},
      {csv_line("0", "1", "-1"), "pixel 2 is -1, outside 0..16"},
      {csv_line("nan", "1"), "pixel 1 is nan, outside 0..16"},
      {csv_line("inf", "1"), "pixel 1 is inf, outside 0..16"},
      {csv_line("0", "10"), "the label is 10, not one of 0..9"},
      {csv_line("0", "-1"), "the label is -1, not one of 0..9"},
      {csv_line("0", "2.5"), "the label is 2.5, not one of 0..9"},
      {csv_line("0", "nan"), "the label is nan, not one of 0..9"},
  };
  for (const auto& [case_line, problem] : faults) {
    const auto& line = case_line;
    CAPTURE(line);
    check_unreadable([&] { parse_digits(good + line + "\n" + good, "some.csv"); },
                     "[load_digits] some.csv:2: " + problem);
    check_unreadable([&] { parse_digits(good + "\r\n" + line, "some.csv"); },
                     "[load_digits] some.csv:3: " + problem);
  }
}

TEST_CASE("parse_digits: text without images is refused") {
  for (const std::string text : {"", "\n", "\r\n\n"}) {
    check_unreadable([&] { parse_digits(text, "some.csv"); },
                     "[load_digits] some.csv:1: there are no images");
  }
}

TEST_CASE("parse_digits: the decimal separator is a point in every locale") {
  const auto pixel = [](const std::string& text) {
    return parse_digits(csv_line(text, "2"), "test").images.at({0, 0, 0});
  };
  CHECK(pixel("3.14") == 3.14);
  const DecimalComma locale;
  if (!locale.is_set()) {
    WARN_MESSAGE(false, "skipped: there is no localedef to make a locale with a decimal comma");
    return;
  }
  // What a reader that looks at the locale would do.
  REQUIRE(std::strtod("3,14", nullptr) == 3.14);
  REQUIRE(fmt::format("{:.2Lf}", 3.14) == "3,14");
  CHECK(pixel("3.14") == 3.14);
  check_unreadable([&] { pixel("3,14"); }, "[load_digits] test:1: has 66 fields instead of 65");
}

TEST_CASE("Digits: range and select return images with their labels") {
  const Digits digits = load_digits();
  const Digits some = digits.select({5, 2, 5});
  CHECK(some.images.shape().str() == "(3, 8, 8)");
  CHECK(some.labels == std::vector<std::int64_t>{5, 2, 5});
  CHECK(some.images.at({0, 3, 4}) == digits.images.at({5, 3, 4}));
  CHECK(some.images.at({2, 3, 4}) == digits.images.at({5, 3, 4}));
  const Digits range = digits.range(1795, 1797);
  CHECK(range.labels == std::vector<std::int64_t>{9, 8});
  CHECK(range.images.at({0, 0, 2}) == digits.images.at({1795, 0, 2}));
  CHECK(digits.range(3, 3).images.shape().str() == "(0, 8, 8)");
  check_refused([&] { digits.range(1796, 1798); },
                "[Digits::range] range: must lie inside the 1797 images, got [1796, 1798)");
  check_refused([&] { digits.range(3, 2); }, "[Digits::range] range");
  check_refused([&] { digits.range(-1, 2); }, "[Digits::range] range");
  check_refused(
      [&] {
        digits.select({0, 1797});
      },
      "[Digits::select] positions: must lie in [0, 1797), got 1797");
}
