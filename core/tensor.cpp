#include "core/tensor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.hpp"

namespace normlab {

namespace {

std::string describe(const Tensor& x) { return x.defined() ? x.shape().str() : "no tensor"; }

// Both of one shape, and both defined or neither: an undefined tensor's shape equals a scalar's.
void check_same(std::string_view op, std::string_view argument, const Tensor& got,
                const Tensor& expected) {
  check(got.defined() == expected.defined() && got.shape() == expected.shape(), op, argument,
        "must have the shape of the other operand",
        [&] { return describe(got) + " and " + describe(expected); });
}

}  // namespace

Tensor::Tensor(Shape shape, Buffer buffer)
    : shape_(std::move(shape)), numel_(shape_.numel()), buffer_(std::move(buffer)) {}

Tensor::Tensor(Shape shape, std::span<const double> values) : Tensor(uninitialized(shape)) {
  if (std::ssize(values) != numel_) {
    fail("Tensor", "values", fmt::format("must be {} numbers for shape {}", numel_, shape.str()),
         std::to_string(values.size()));
  }
  std::copy(values.begin(), values.end(), mutable_data());
}

Tensor::Tensor(Shape shape, std::initializer_list<double> values)
    : Tensor(std::move(shape), std::span<const double>(values.begin(), values.size())) {}

Tensor Tensor::uninitialized(Shape shape) {
  constexpr std::int64_t kMostElements = std::int64_t{1} << 60;  // in bytes, what 64 bits can count
  check(shape.numel() < kMostElements, "Tensor", "shape", "must have less than 2^60 elements",
        [&] { return shape.str(); });
  const auto count = static_cast<std::size_t>(shape.numel());
  return Tensor(std::move(shape), acquire_buffer(count));
}

Tensor Tensor::full(Shape shape, double value) {
  Tensor result = uninitialized(std::move(shape));
  std::fill_n(result.mutable_data(), result.numel(), value);
  return result;
}

Tensor Tensor::arange(std::int64_t n) {
  Tensor result = uninitialized({n});
  std::iota(result.mutable_data(), result.mutable_data() + n, 0.0);
  return result;
}

double* Tensor::mutable_data() {
  if (buffer_.use_count() > 1) {
    Buffer own = acquire_buffer(static_cast<std::size_t>(numel_));
    std::copy_n(buffer_.get(), numel_, own.get());
    buffer_ = std::move(own);
  }
  return buffer_.get();
}

double Tensor::at(std::initializer_list<std::int64_t> index) const {
  if (!defined() || std::ssize(index) != rank()) {
    fail("Tensor::at", "index", "must have one entry per axis of " + describe(*this),
         std::to_string(index.size()));
  }
  std::int64_t offset = 0;
  std::int64_t axis = 0;
  for (std::int64_t i : index) {
    if (i < 0 || i >= shape_[axis]) {
      fail("Tensor::at", "index", "must lie inside " + shape_.str(),
           fmt::format("({})", fmt::join(index, ", ")));
    }
    offset = offset * shape_[axis++] + i;
  }
  return buffer_[static_cast<std::ptrdiff_t>(offset)];
}

double Tensor::item() const {
  check(defined() && numel_ == 1, "Tensor::item", "tensor", "must hold exactly one value",
        [&] { return describe(*this); });
  return buffer_[0];
}

Tensor Tensor::reshaped(Shape shape) const {
  if (!defined() || shape.numel() != numel_) {
    fail("reshape", "shape",
         fmt::format("must hold the {} elements of {}", numel_, describe(*this)), shape.str());
  }
  return Tensor(std::move(shape), buffer_);
}

Tensor& Tensor::operator+=(const Tensor& other) {
  check_same("Tensor::operator+=", "other", other, *this);
  double* out = mutable_data();
  const double* in = other.data();
  for (std::int64_t i = 0; i < numel_; ++i) out[i] += in[i];
  return *this;
}

std::string Tensor::str() const {
  if (!defined()) return "no tensor";
  return fmt::format("{} {}", shape_.str(), fmt::join(values(), " "));
}

double norm(const Tensor& x) {
  double sum = 0.0;
  for (double value : x.values()) sum += value * value;
  if (sum > std::numeric_limits<double>::min() && sum < std::numeric_limits<double>::max()) {
    return std::sqrt(sum);
  }
  double largest = 0.0;
  for (double value : x.values()) {
    if (std::isnan(value)) return value;
    largest = std::max(largest, std::abs(value));
  }
  if (largest == 0.0 || std::isinf(largest)) return largest;
  sum = 0.0;
  for (double value : x.values()) sum += (value / largest) * (value / largest);
  return largest * std::sqrt(sum);
}

double max_abs_difference(const Tensor& a, const Tensor& b) {
  check_same("max_abs_difference", "b", b, a);
  double largest = 0.0;
  for (std::int64_t i = 0; i < a.numel(); ++i) {
    const double x = a.data()[i];
    const double y = b.data()[i];
    if (std::isnan(x) != std::isnan(y)) return std::numeric_limits<double>::infinity();
    if (x != y && !std::isnan(x)) largest = std::max(largest, std::abs(x - y));
  }
  return largest;
}

bool all_finite(const Tensor& x) {
  return std::all_of(x.values().begin(), x.values().end(),
                     [](double v) { return std::isfinite(v); });
}

}  // namespace normlab
