// Tested by tests/core/random_test.cpp against numbers made with PyTorch.
#include "core/random.hpp"

#include <algorithm>
#include <cmath>
#include <locale>
#include <numbers>
#include <numeric>
#include <sstream>

#include "core/check.hpp"

namespace normlab {

namespace {

constexpr std::size_t kBlock = 16;

// Box and Muller (1958): two independent uniforms u1, u2 give the two independent normals
// sqrt(-2 ln u1) cos(2 pi u2) and sqrt(-2 ln u1) sin(2 pi u2). Turns 16 uniforms into 16 normals in
// place, v[j] being paired with v[j + 8]; 1 - v[j] keeps the logarithm away from 0.
void box_muller_block(double* v) {
  for (std::size_t j = 0; j < kBlock / 2; ++j) {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - v[j]));
    const double angle = 2.0 * std::numbers::pi * v[j + kBlock / 2];
    v[j] = radius * std::cos(angle);
    v[j + kBlock / 2] = radius * std::sin(angle);
  }
}

}  // namespace

void Generator::manual_seed(std::uint64_t seed) {
  engine_.seed(static_cast<std::uint32_t>(seed));
  second_of_pair_.reset();
}

std::uint64_t Generator::next64() {
  const std::uint64_t high = next32();
  return high << 32 | next32();
}

double Generator::uniform() {
  constexpr std::uint64_t kLow53 = (std::uint64_t{1} << 53) - 1;
  return static_cast<double>(next64() & kLow53) * 0x1p-53;
}

double Generator::normal() {
  if (second_of_pair_) {
    const double value = *second_of_pair_;
    second_of_pair_.reset();
    return value;
  }
  const double angle = 2.0 * std::numbers::pi * uniform();  // drawn before the radius
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  second_of_pair_ = radius * std::sin(angle);
  return radius * std::cos(angle);
}

void Generator::fill_uniform(std::span<double> out, double low, double high) {
  for (double& value : out) value = low + (high - low) * uniform();
}

// 16 or more values are made in blocks of 16 uniforms; if the size is not a multiple of 16, the
// last 16 are drawn again. Fewer values come from normal().
void Generator::fill_normal(std::span<double> out) {
  if (out.size() < kBlock) {
    for (double& value : out) value = normal();
    return;
  }
  fill_uniform(out);
  for (std::size_t i = 0; i + kBlock <= out.size(); i += kBlock) box_muller_block(&out[i]);
  if (out.size() % kBlock != 0) {
    const std::span<double> last = out.last(kBlock);
    fill_uniform(last);
    box_muller_block(last.data());
  }
}

Tensor Generator::rand(Shape shape) {
  Tensor result = Tensor::uninitialized(std::move(shape));
  fill_uniform(result.mutable_values());
  return result;
}

Tensor Generator::randn(Shape shape) {
  Tensor result = Tensor::uninitialized(std::move(shape));
  fill_normal(result.mutable_values());
  return result;
}

Tensor Generator::bernoulli(Shape shape, double probability) {
  check_probability("bernoulli", "probability", probability);
  Tensor result = Tensor::uninitialized(std::move(shape));
  for (double& value : result.mutable_values()) value = uniform() < probability ? 1.0 : 0.0;
  return result;
}

std::int64_t Generator::randint(std::int64_t high) {
  check(high > 0, "randint", "high", "must be positive", [&] { return std::to_string(high); });
  const auto range = static_cast<std::uint64_t>(high);
  const std::uint64_t draw = range >> 32 == 0 ? next32() : next64();
  return static_cast<std::int64_t>(draw % range);
}

// Fisher and Yates, as PyTorch draws it: position i swaps with a random one in [i, n).
std::vector<std::int64_t> Generator::permutation(std::int64_t n) {
  check(n >= 0, "permutation", "n", "must not be negative", [&] { return std::to_string(n); });
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    const auto rest = static_cast<std::int64_t>(order.size() - i);
    std::swap(order[i], order[i + static_cast<std::size_t>(randint(rest))]);
  }
  return order;
}

// The standard gives the engine's state only as text: its 624 words and, in libstdc++, the position
// among them. Last come whether a normal is cached, and its value.
Tensor Generator::state() const {
  std::stringstream text;
  text.imbue(std::locale::classic());
  text << engine_;
  std::vector<double> numbers;
  for (double number = 0.0; text >> number;) numbers.push_back(number);
  numbers.push_back(second_of_pair_.has_value() ? 1.0 : 0.0);
  numbers.push_back(second_of_pair_.value_or(0.0));
  return Tensor({std::ssize(numbers)}, numbers);
}

void Generator::set_state(const Tensor& state) {
  const std::size_t size = Generator().state().values().size();
  const std::span<const double> numbers = state.values();
  const bool holds =
      state.rank() == 1 && numbers.size() == size &&
      std::ranges::all_of(numbers.first(size - 1),
                          [](double number) {
                            return number >= 0.0 && number < 0x1p32 && number == std::floor(number);
                          }) &&
      numbers[size - 2] <= 1.0 && std::isfinite(numbers[size - 1]);
  check(holds, "Generator::set_state", "state", "must be one that state() returned",
        [&] { return "a tensor of shape " + state.shape().str(); });
  std::stringstream text;
  text.imbue(std::locale::classic());
  for (const double number : numbers.first(size - 2)) {
    text << static_cast<std::uint64_t>(number) << ' ';
  }
  text >> engine_;
  second_of_pair_.reset();
  if (numbers[size - 2] == 1.0) second_of_pair_ = numbers[size - 1];
}

}  // namespace normlab
