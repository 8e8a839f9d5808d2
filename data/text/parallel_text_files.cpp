// Tested by tests/data/text/parallel_text_files_test.cpp.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/check.hpp"
#include "data/text/parallel_text.hpp"
#include "data/text/utf8.hpp"

namespace normlab {

namespace {

constexpr std::string_view kOp = "read_parallel_text";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kListedFaults = 10;

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  file.peek();  // a directory can be opened, but not read
  if (!file.is_open() || file.bad()) {
    fail_file(kOp, path, "cannot be read", "check the path and its permissions");
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_empty(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

std::int64_t character_count(std::string_view line) {
  return std::ssize(split_characters(line, kOp));
}

// The faults of both files, so that they can be mended in one go.
class Faults {
 public:
  void add(const std::string& path, std::size_t line, std::string problem, std::string_view hint) {
    if (count_++ < kListedFaults) {
      listed_.push_back({fmt::format("{}:{}", path, line + 1), std::move(problem), hint});
    }
  }

  // Throws if there are any: the first fault with its hint, then the others, all on one line.
  void report() const {
    if (count_ == 0) return;
    std::string text = listed_[0].problem;
    if (count_ > 1) text += fmt::format(" (the first of {} faults)", count_);
    for (std::size_t i = 1; i < listed_.size(); ++i) {
      text += fmt::format("; {}: {}", listed_[i].place, listed_[i].problem);
    }
    if (count_ > listed_.size()) text += fmt::format("; and {} more", count_ - listed_.size());
    fail_file(kOp, listed_[0].place, text, listed_[0].hint);
  }

 private:
  struct Fault {
    std::string place, problem;
    std::string_view hint;
  };
  std::size_t count_ = 0;
  std::vector<Fault> listed_;
};

class TextFile {
 public:
  explicit TextFile(const std::string& path) : path_(path), text_(read_file(path)) {
    std::string_view rest = text_;
    if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
    if (rest.empty()) fail_file(kOp, path, "the file is empty", "each line holds a sentence");
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (line.ends_with('\r')) line.remove_suffix(1);
      lines_.push_back(line);
    }
  }
  TextFile(const TextFile&) = delete;  // the lines point into the text
  TextFile& operator=(const TextFile&) = delete;

  const std::string& path() const { return path_; }
  const std::vector<std::string_view>& lines() const { return lines_; }

  void check_lines(bool skip_empty, Faults& faults) const {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (is_empty(lines_[i]) && !skip_empty) {
        faults.add(path_, i, "the line is empty",
                   "each line holds a sentence; remove the line from both files or skip it");
      }
      if (const auto invalid = find_invalid_utf8(lines_[i])) {
        faults.add(path_, i,
                   fmt::format("byte {} of the line, {:#04x}, is not UTF-8", *invalid + 1,
                               static_cast<unsigned char>(lines_[i][*invalid])),
                   "convert the file to UTF-8, for instance with iconv");
      }
    }
  }

 private:
  std::string path_, text_;
  std::vector<std::string_view> lines_;
};

void check_partners(const TextFile& source, const TextFile& target, Faults& faults) {
  const std::size_t sources = source.lines().size(), targets = target.lines().size();
  if (sources == targets) return;
  faults.add(sources > targets ? source.path() : target.path(), std::min(sources, targets),
             fmt::format("the line has no partner, {} has {} lines and {} has {}", source.path(),
                         sources, target.path(), targets),
             "line i of one file must translate line i of the other");
}

}  // namespace

FilteredText read_parallel_text(const std::string& source_path, const std::string& target_path,
                                const PairFilter& filter) {
  check(!filter.max_length || *filter.max_length > 0, kOp, "max_length", "must be positive",
        [&] { return std::to_string(*filter.max_length); });
  const TextFile source(source_path), target(target_path);
  Faults faults;
  source.check_lines(filter.skip_empty, faults);
  target.check_lines(filter.skip_empty, faults);
  check_partners(source, target, faults);
  faults.report();

  FilteredText result;
  const auto is_too_long = [&](std::string_view line) {
    return filter.max_length && character_count(line) > *filter.max_length;
  };
  for (std::size_t i = 0; i < source.lines().size(); ++i) {
    const std::string_view from = source.lines()[i], to = target.lines()[i];
    if (is_empty(from) || is_empty(to)) {
      ++result.empty;
    } else if (is_too_long(from) || is_too_long(to)) {
      ++result.too_long;
    } else {
      result.text.source.emplace_back(from);
      result.text.target.emplace_back(to);
    }
  }
  if (result.text.size() == 0) {
    fail_file(kOp, source_path,
              fmt::format("no pair is left: {} empty and {} too long pairs were skipped",
                          result.empty, result.too_long),
              "raise the largest length, or check the files");
  }
  return result;
}

ParallelText read_parallel_text(const std::string& source_path, const std::string& target_path) {
  return read_parallel_text(source_path, target_path, PairFilter{}).text;
}

}  // namespace normlab
