#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <vector>

// Long sums that arrive term by term: what rounding takes from a sum is collected beside it
// (Knuth's two-sum, as in Neumaier's summation), so that the error does not grow with the number of
// terms.
namespace normlab {

inline void add_compensated(double term, double& sum, double& lost) {
  const double before = sum, after = before + term, of_term = after - before;
  lost += (before - (after - of_term)) + (term - of_term);
  sum = after;
}

// The sum at last; one that overflowed stays infinite.
inline double with_lost(double sum, double lost) { return std::isfinite(lost) ? sum + lost : sum; }

// Adds up rows of equal width, one sum per column, as the gradient of a bias or of a norm's weight
// needs it. Compensated above kManyRows rows; up to there a plain sum is accurate enough, and
// faster.
class ColumnSums {
 public:
  static constexpr std::int64_t kManyRows = 4096;

  // Adds to the `width` elements of `sums`, which must outlive this object.
  ColumnSums(double* sums, std::int64_t width, std::int64_t rows)
      : sums_(sums), width_(width), lost_(rows > kManyRows ? static_cast<std::size_t>(width) : 0) {}
  ColumnSums(const ColumnSums&) = delete;
  ColumnSums& operator=(const ColumnSums&) = delete;

  // sums[j] += f(j) for every column j.
  template <std::invocable<std::int64_t> F>
  void add_row(F f) {
    double* sums = sums_;
    const std::int64_t width = width_;
    if (lost_.empty()) {
      for (std::int64_t j = 0; j < width; ++j) sums[j] += f(j);
      return;
    }
    double* lost = lost_.data();
    for (std::int64_t j = 0; j < width; ++j) add_compensated(f(j), sums[j], lost[j]);
  }

  // To be called once, after the last row.
  void finish() {
    for (std::size_t j = 0; j < lost_.size(); ++j) sums_[j] = with_lost(sums_[j], lost_[j]);
  }

 private:
  double* sums_;
  std::int64_t width_;
  std::vector<double> lost_;
};

}  // namespace normlab
