// Tested by tests/data/text/parallel_text_test.cpp.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "core/check.hpp"
#include "data/text/parallel_text.hpp"
#include "data/text/utf8.hpp"

namespace normlab {

namespace {

constexpr std::string_view kOp = "read_parallel_text";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  file.peek();  // a directory can be opened, but not read
  if (!file.is_open() || file.bad()) {
    fail_file(kOp, path, "cannot be read", "check the path and its permissions");
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

void check_line(const std::string& path, std::size_t number, std::string_view line) {
  const auto where = [&] { return fmt::format("{}:{}", path, number); };
  if (line.find_first_not_of(" \t") == std::string_view::npos) {
    fail_file(kOp, where(), "the line is empty",
              "each line holds a sentence; remove the line from both files");
  }
  if (const auto fault = find_invalid_utf8(line)) {
    fail_file(kOp, where(),
              fmt::format("byte {} of the line, {:#04x}, is not UTF-8", *fault + 1,
                          static_cast<unsigned char>(line[*fault])),
              "convert the file to UTF-8, for instance with iconv");
  }
}

std::vector<std::string> read_sentences(const std::string& path) {
  const std::string text = read_file(path);
  std::string_view rest = text;
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  if (rest.empty()) {
    fail_file(kOp, path, "the file is empty", "each line holds a sentence");
  }
  std::vector<std::string> sentences;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    check_line(path, sentences.size() + 1, line);
    sentences.emplace_back(line);
  }
  return sentences;
}

}  // namespace

ParallelText read_parallel_text(const std::string& source_path, const std::string& target_path) {
  ParallelText text{read_sentences(source_path), read_sentences(target_path)};
  const std::size_t sources = text.source.size(), targets = text.target.size();
  if (sources != targets) {
    const std::string& longer = sources > targets ? source_path : target_path;
    fail_file(kOp, fmt::format("{}:{}", longer, std::min(sources, targets) + 1),
              fmt::format("the line has no partner, {} has {} lines and {} has {}", source_path,
                          sources, target_path, targets),
              "line i of one file must translate line i of the other");
  }
  return text;
}

}  // namespace normlab
