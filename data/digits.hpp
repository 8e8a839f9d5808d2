#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/random.hpp"
#include "core/tensor.hpp"

namespace normlab {

// Images of handwritten digits, 8 x 8 pixels from 0 (white) to 16 (black), and their classes 0 to 9
// (data/README.md).
struct Digits {
  Tensor images;                     // (N, 8, 8)
  std::vector<std::int64_t> labels;  // (N)

  std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
  // Images first to last - 1. Throws std::invalid_argument unless 0 <= first <= last <= size().
  Digits range(std::int64_t first, std::int64_t last) const;
  // The images at these positions, in this order; a position may repeat. Throws
  // std::invalid_argument for a position outside 0 .. size() - 1.
  Digits select(const std::vector<std::int64_t>& positions) const;
};

inline constexpr std::int64_t kDigitSide = 8;
inline constexpr std::int64_t kDigitClasses = 10;

// The project's own copy of 1,797 images, which is part of the library: no file is needed.
Digits load_digits();
// Reads a CSV file in the same form: one image a line, 64 pixels (row-major) and the label. Empty
// lines are ignored. The decimal separator is a point in every locale. Throws std::runtime_error
// that names file, line and fault if the file cannot be read, a line does not have 65 numbers in
// their ranges, or there is no image.
Digits load_digits(const std::string& path);
// The same from text; `source` is the name of the file in errors.
Digits parse_digits(std::string_view csv, const std::string& source);

// (x - mean) / standard deviation over all elements, in the shape of x. The variance is divided by
// n - 1, as in PyTorch's std(), which the source article uses (for the first 256 images the
// standard deviation is 6.12602613; dividing by n would give 6.12583917). Throws
// std::invalid_argument if x has fewer than two elements, is constant, or holds a value that is not
// finite.
Tensor standardize(const Tensor& x);

// Cuts square images (N, S, S) into patches of p x p pixels, p = side: (N, (S/p)^2, p^2). Patches
// and the pixels of a patch are in row-major order. Throws std::invalid_argument if the images are
// not square or p does not divide S.
Tensor patches(const Tensor& images, std::int64_t side);

struct Split {
  std::vector<std::int64_t> train, test;
};
// Shuffles the positions 0 .. n - 1 and sends `train_fraction` of them, rounded down, to train and
// the others to test. Throws std::invalid_argument unless the fraction lies in [0, 1].
Split train_test_split(std::int64_t n, double train_fraction, Generator& generator);

// Consecutive batches of the positions; the last one may be smaller. Throws std::invalid_argument
// unless `batch_size` is positive.
std::vector<std::vector<std::int64_t>> batches(const std::vector<std::int64_t>& positions,
                                               std::int64_t batch_size);

}  // namespace normlab
