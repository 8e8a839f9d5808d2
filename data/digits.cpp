// Tested by tests/data/digits_test.cpp.
#include "data/digits.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <numeric>

#include <fmt/format.h>

#include "core/check.hpp"
#include "data/embedded.hpp"

namespace normlab {

namespace {

constexpr std::int64_t kPixels = kDigitSide * kDigitSide;
constexpr double kLargestPixel = 16.0;

[[noreturn]] void fail_line(const std::string& source, std::size_t line,
                            const std::string& problem) {
  fail_file("load_digits", fmt::format("{}:{}", source, line), problem,
            "each line holds 64 pixels 0..16 and a label 0..9, separated by commas");
}

// Uses from_chars, which ignores the locale; strtod and streams do not.
std::vector<double> parse_line(std::string_view line, const std::string& source,
                               std::size_t number) {
  std::vector<double> values;
  std::size_t start = 0;
  while (start <= line.size()) {
    const std::size_t end = std::min(line.find(',', start), line.size());
    const std::string_view field = line.substr(start, end - start);
    double value = 0.0;
    const auto [rest, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc() || rest != field.data() + field.size()) {
      fail_line(source, number,
                fmt::format("field {} is not a number: '{}'", values.size() + 1, field));
    }
    values.push_back(value);
    start = end + 1;
  }
  if (std::ssize(values) != kPixels + 1) {
    fail_line(source, number,
              fmt::format("has {} fields instead of {}", values.size(), kPixels + 1));
  }
  return values;
}

void append_image(const std::vector<double>& fields, const std::string& source, std::size_t line,
                  std::vector<double>& pixels, std::vector<std::int64_t>& labels) {
  for (std::size_t i = 0; i + 1 < fields.size(); ++i) {
    if (!(fields[i] >= 0.0 && fields[i] <= kLargestPixel)) {
      fail_line(source, line, fmt::format("pixel {} is {}, outside 0..16", i + 1, fields[i]));
    }
    pixels.push_back(fields[i]);
  }
  const double label = fields.back();
  if (!(label >= 0.0 && label < static_cast<double>(kDigitClasses) && label == std::floor(label))) {
    fail_line(source, line, fmt::format("the label is {}, not one of 0..9", label));
  }
  labels.push_back(static_cast<std::int64_t>(label));
}

}  // namespace

Digits Digits::range(std::int64_t first, std::int64_t last) const {
  check(0 <= first && first <= last && last <= size(), "Digits::range", "range",
        fmt::format("must lie inside the {} images", size()),
        [&] { return fmt::format("[{}, {})", first, last); });
  std::vector<std::int64_t> positions(static_cast<std::size_t>(last - first));
  std::iota(positions.begin(), positions.end(), first);
  return select(positions);
}

Digits Digits::select(const std::vector<std::int64_t>& positions) const {
  Digits selected{Tensor::uninitialized({std::ssize(positions), kDigitSide, kDigitSide}), {}};
  double* out = selected.images.mutable_data();
  for (std::int64_t position : positions) {
    check(position >= 0 && position < size(), "Digits::select", "positions",
          fmt::format("must lie in [0, {})", size()), [&] { return std::to_string(position); });
    out = std::copy_n(images.data() + position * kPixels, kPixels, out);
    selected.labels.push_back(labels[static_cast<std::size_t>(position)]);
  }
  return selected;
}

Digits load_digits() { return parse_digits(embedded_digits_csv(), "digits.csv"); }

Digits load_digits(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  file.peek();  // a directory can be opened, but not read
  if (!file.is_open() || file.bad()) {
    fail_file("load_digits", path, "cannot be read", "check the path and its permissions");
  }
  return parse_digits(std::string{std::istreambuf_iterator<char>(file), {}}, path);
}

Digits parse_digits(std::string_view csv, const std::string& source) {
  std::vector<double> pixels;
  std::vector<std::int64_t> labels;
  std::size_t line = 0;
  while (!csv.empty()) {
    ++line;
    const std::size_t end = csv.find('\n');
    std::string_view text = csv.substr(0, end);
    csv.remove_prefix(end == std::string_view::npos ? csv.size() : end + 1);
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (text.empty()) continue;
    append_image(parse_line(text, source, line), source, line, pixels, labels);
  }
  if (labels.empty()) fail_line(source, 1, "there are no images");
  return {Tensor({std::ssize(labels), kDigitSide, kDigitSide}, pixels), labels};
}

Tensor standardize(const Tensor& x) {
  check(x.numel() >= 2, "standardize", "x", "must have at least two elements",
        [&] { return x.shape().str(); });
  const auto n = static_cast<double>(x.numel());
  const double mean = std::accumulate(x.values().begin(), x.values().end(), 0.0) / n;
  Tensor y = x;
  double sum_of_squares = 0.0;
  for (double& value : y.mutable_values()) {
    value -= mean;
    sum_of_squares += value * value;
  }
  const double deviation = std::sqrt(sum_of_squares / (n - 1.0));
  // Rounding of the mean can give equal values a small deviation, so the range is checked as well.
  const auto [least, largest] = std::ranges::minmax(x.values());
  check(least < largest && std::isfinite(deviation) && deviation > 0.0, "standardize", "x",
        "must be finite and not constant",
        [&] { return fmt::format("standard deviation {}", deviation); });
  for (double& value : y.mutable_values()) value /= deviation;
  return y;
}

Tensor patches(const Tensor& images, std::int64_t side) {
  check(images.rank() == 3 && images.shape()[1] == images.shape()[2], "patches", "images",
        "must be square, (N, S, S)", [&] { return images.shape().str(); });
  const std::int64_t n = images.shape()[0], s = images.shape()[1];
  check(side > 0 && s % side == 0, "patches", "side",
        fmt::format("must divide the image side {}", s), [&] { return std::to_string(side); });
  const std::int64_t across = s / side;
  Tensor result = Tensor::uninitialized({n, across * across, side * side});
  double* out = result.mutable_data();
  for (std::int64_t image = 0; image < n; ++image) {
    for (std::int64_t patch = 0; patch < across * across; ++patch) {
      const std::int64_t top = patch / across * side, left = patch % across * side;
      for (std::int64_t row = 0; row < side; ++row) {
        out = std::copy_n(images.data() + (image * s + top + row) * s + left, side, out);
      }
    }
  }
  return result;
}

Split train_test_split(std::int64_t n, double train_fraction, Generator& generator) {
  check_probability("train_test_split", "train_fraction", train_fraction);
  const std::vector<std::int64_t> order = generator.permutation(n);
  const auto middle =
      order.begin() + static_cast<std::int64_t>(train_fraction * static_cast<double>(n));
  return {{order.begin(), middle}, {middle, order.end()}};
}

std::vector<std::vector<std::int64_t>> batches(const std::vector<std::int64_t>& positions,
                                               std::int64_t batch_size) {
  check(batch_size > 0, "batches", "batch_size", "must be positive",
        [&] { return std::to_string(batch_size); });
  std::vector<std::vector<std::int64_t>> result;
  for (std::int64_t start = 0; start < std::ssize(positions); start += batch_size) {
    const std::int64_t end = std::min(start + batch_size, std::ssize(positions));
    result.emplace_back(positions.begin() + start, positions.begin() + end);
  }
  return result;
}

}  // namespace normlab
