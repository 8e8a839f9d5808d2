#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/buffer_pool.hpp"
#include "core/shape.hpp"

namespace normlab {

// A dense row-major array of doubles with value semantics. Copies share one buffer until one of
// them is written to (`mutable_data` copies a shared buffer first), so passing and returning
// tensors is cheap and no write is ever seen through another tensor. Always contiguous: there are
// no strided views that a kernel could read wrongly.
class Tensor {
 public:
  // Undefined, which is not the same as empty: `defined()` is false, and the tensor has no shape.
  // What was moved from is undefined, too.
  Tensor() = default;
  Tensor(const Tensor&) = default;
  Tensor& operator=(const Tensor&) = default;
  Tensor(Tensor&& other) noexcept
      : shape_(std::exchange(other.shape_, Shape())),
        numel_(std::exchange(other.numel_, 0)),
        buffer_(std::move(other.buffer_)) {}
  Tensor& operator=(Tensor&& other) noexcept {
    shape_ = std::exchange(other.shape_, Shape());
    numel_ = std::exchange(other.numel_, 0);
    buffer_ = std::exchange(other.buffer_, nullptr);
    return *this;
  }
  ~Tensor() = default;

  // Copies the values in row-major order. Throws std::invalid_argument if their number is not
  // `shape.numel()`.
  Tensor(Shape shape, std::span<const double> values);
  Tensor(Shape shape, std::initializer_list<double> values);

  // Factories throw std::invalid_argument for a shape of 2^60 elements or more.
  static Tensor uninitialized(Shape shape);
  static Tensor full(Shape shape, double value);
  static Tensor zeros(Shape shape) { return full(std::move(shape), 0.0); }
  static Tensor ones(Shape shape) { return full(std::move(shape), 1.0); }
  static Tensor scalar(double value) { return full({}, value); }
  // 0, 1, ..., n - 1, of shape (n). Throws std::invalid_argument for a negative n.
  static Tensor arange(std::int64_t n);

  bool defined() const { return buffer_ != nullptr; }
  const Shape& shape() const { return shape_; }
  std::int64_t rank() const { return shape_.rank(); }
  std::int64_t numel() const { return numel_; }
  std::int64_t width() const { return shape_.width(); }
  std::int64_t rows() const { return shape_.rows(); }

  const double* data() const { return buffer_.get(); }
  double* mutable_data();
  std::span<const double> values() const { return {data(), static_cast<std::size_t>(numel_)}; }
  std::span<double> mutable_values() { return {mutable_data(), static_cast<std::size_t>(numel_)}; }

  // One element, by one index per axis. Throws std::invalid_argument unless every index lies in
  // [0, extent).
  double at(std::initializer_list<std::int64_t> index) const;
  // The value of a tensor of one element, of any rank. Throws std::invalid_argument for any other.
  double item() const;

  // The same elements under another shape, sharing the buffer. Throws std::invalid_argument unless
  // the shape has as many elements.
  Tensor reshaped(Shape shape) const;

  // Adds elementwise, without broadcasting. Throws std::invalid_argument unless the shapes are
  // equal and both or neither of the tensors are defined.
  Tensor& operator+=(const Tensor& other);

  // Shape and values, "(2,) 1 2".
  std::string str() const;

 private:
  Tensor(Shape shape, Buffer buffer);

  Shape shape_;
  std::int64_t numel_ = 0;
  Buffer buffer_;
};

// sqrt of the sum of squares (the Frobenius norm), scaled so that it neither overflows nor
// underflows.
double norm(const Tensor& x);
// Largest absolute difference; infinite if one tensor holds a NaN where the other does not. Throws
// std::invalid_argument unless the shapes are equal.
double max_abs_difference(const Tensor& a, const Tensor& b);
bool all_finite(const Tensor& x);

}  // namespace normlab
