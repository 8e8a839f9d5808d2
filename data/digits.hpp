#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/random.hpp"
#include "core/tensor.hpp"

namespace normlab {

// Handwritten digits of 8 x 8 pixels, 0 (white) to 16, with their class 0 .. 9 (data/README.md).
struct Digits {
  Tensor images;                     // (N, 8, 8)
  std::vector<std::int64_t> labels;  // (N)

  std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
  // Images [first, last). Throws std::invalid_argument if they are not there.
  Digits range(std::int64_t first, std::int64_t last) const;
  // The images with these positions, in this order.
  Digits select(const std::vector<std::int64_t>& positions) const;
};

inline constexpr std::int64_t kDigitSide = 8;
inline constexpr std::int64_t kDigitClasses = 10;

// The project's own copy, 1,797 images; part of the library, so no file has to be found.
Digits load_digits();
// A CSV file in the same form: 64 pixels and the label, an image a line. Numbers are read with a
// point whatever the locale. Throws std::runtime_error naming file, line and fault.
Digits load_digits(const std::string& path);
// The same from text; `source` names it in errors.
Digits parse_digits(std::string_view csv, const std::string& source);

// (x - mean) / standard deviation over all elements, with the n - 1 divisor: PyTorch's std(), which
// the source article uses (n would give a standard deviation of 6.12583917 in place of 6.12602613
// for the first 256 images). Throws std::invalid_argument for fewer than two elements, no spread,
// or a value that is not finite.
Tensor standardize(const Tensor& x);

// Cuts square images (N, S, S) into patches of side p, which must divide S, row by row:
// (N, (S/p)^2, p^2).
Tensor patches(const Tensor& images, std::int64_t side);

// Shuffles the positions 0 .. n-1 and splits them; `train_fraction` of them, rounded down, to
// train.
struct Split {
  std::vector<std::int64_t> train, test;
};
Split train_test_split(std::int64_t n, double train_fraction, Generator& generator);

// Consecutive batches of the positions; the last one may be smaller.
std::vector<std::vector<std::int64_t>> batches(const std::vector<std::int64_t>& positions,
                                               std::int64_t batch_size);

}  // namespace normlab
