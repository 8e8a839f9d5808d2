#include "core/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include <doctest/doctest.h>

#include "core/kernels/map.hpp"
#include "tests/support/fixtures.hpp"

namespace normlab {
namespace {

// Equal in every bit: 0 and -0 differ here.
bool same_bits(std::span<const double> got, const FixtureTensor& expected) {
  return got.size() == expected.data.size() &&
         std::memcmp(got.data(), expected.data.data(), got.size_bytes()) == 0;
}

Generator seeded(const FixtureCase& fixture) {
  return Generator(fixture.option<std::uint64_t>("seed"));
}

TEST_CASE("random: randn equals PyTorch bit for bit") {
  for (const FixtureCase& fixture : load_fixture_cases("random.json", "randn")) {
    CAPTURE(fixture.name);
    Generator generator = seeded(fixture);
    const Tensor y = generator.randn({fixture.option<std::int64_t>("size")});
    if (find_tensor(fixture.outputs, "y") != nullptr) {
      CHECK(same_bits(y.values(), fixture.output("y")));
      continue;
    }
    CHECK(same_bits(y.values().first(4), fixture.output("first")));
    CHECK(same_bits(y.values().last(20), fixture.output("last")));
    const double sum = std::accumulate(y.values().begin(), y.values().end(), 0.0);
    CHECK(std::abs(sum - fixture.output("sum").data[0]) <= 1e-12);  // of 1000 numbers of size 1
  }
}

TEST_CASE("random: successive calls share PyTorch's cached normal") {
  for (const FixtureCase& fixture : load_fixture_cases("random.json", "randn_sequence")) {
    CAPTURE(fixture.name);
    Generator generator = seeded(fixture);
    std::size_t call = 0;
    for (std::int64_t size : fixture.option<std::vector<std::int64_t>>("sizes")) {
      CAPTURE(call);
      const Tensor y = generator.randn({size});
      CHECK(same_bits(y.values(), fixture.output("call_" + std::to_string(call++))));
    }
  }
}

TEST_CASE("random: normals times a deviation equal PyTorch's normal_") {
  for (const FixtureCase& fixture : load_fixture_cases("random.json", "normal")) {
    CAPTURE(fixture.name);
    Generator generator = seeded(fixture);
    const double std = fixture.option<double>("std");
    const Tensor y = map(generator.randn({fixture.option<std::int64_t>("size")}),
                         [std](double value) { return value * std; });
    CHECK(same_bits(y.values(), fixture.output("y")));
  }
}

TEST_CASE("random: rand equals PyTorch bit for bit") {
  for (const FixtureCase& fixture : load_fixture_cases("random.json", "rand")) {
    CAPTURE(fixture.name);
    Generator generator = seeded(fixture);
    const Tensor y = generator.rand({fixture.option<std::int64_t>("size")});
    CHECK(same_bits(y.values(), fixture.output("y")));
  }
}

TEST_CASE("random: a rand between two randn leaves the cached normal") {
  for (const FixtureCase& fixture : load_fixture_cases("random.json", "rand_between_randn")) {
    CAPTURE(fixture.name);
    Generator generator = seeded(fixture);
    CHECK(same_bits(generator.randn({1}).values(), fixture.output("call_0")));
    CHECK(same_bits(generator.rand({2}).values(), fixture.output("call_1")));
    CHECK(same_bits(generator.randn({1}).values(), fixture.output("call_2")));
  }
}

TEST_CASE("random: permutation equals PyTorch's randperm") {
  for (const FixtureCase& fixture : load_fixture_cases("random.json", "randperm")) {
    CAPTURE(fixture.name);
    Generator generator = seeded(fixture);
    std::vector<std::int64_t> order = generator.permutation(fixture.option<std::int64_t>("n"));
    const std::vector<double>& expected = fixture.output("y").data;
    REQUIRE(std::ssize(expected) == fixture.option<std::int64_t>("stored"));
    CHECK(std::equal(expected.begin(), expected.end(), order.begin(),
                     [](double a, std::int64_t b) { return a == static_cast<double>(b); }));
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < order.size(); ++i) {
      REQUIRE(order[i] == static_cast<std::int64_t>(i));
    }
  }
}

TEST_CASE("random: bernoulli equals PyTorch's") {
  for (const FixtureCase& fixture : load_fixture_cases("random.json", "bernoulli")) {
    CAPTURE(fixture.name);
    Generator generator = seeded(fixture);
    const Tensor y =
        generator.bernoulli({fixture.option<std::int64_t>("size")}, fixture.option<double>("p"));
    CHECK(same_bits(y.values(), fixture.output("y")));
  }
}

TEST_CASE("random: no case of random.json is left untested") {
  const auto count = [](const char* kind) {
    return load_fixture_cases("random.json", kind).size();
  };
  CHECK(count("randn") + count("randn_sequence") + count("normal") + count("rand") +
            count("rand_between_randn") + count("randperm") + count("bernoulli") ==
        count(""));
}

// These two numbers change if a library's distributions, or its order of the two values of a pair,
// are used by mistake.
TEST_CASE("random: the first normals of seed 0 are fixed numbers in a fixed order") {
  Generator generator(0);
  CHECK(generator.normal() == 1.5409961082440433);
  CHECK(generator.normal() == -0.2934289057609464);
}

TEST_CASE("random: only the low 32 bits of the seed count") {
  Generator a(7), b((std::uint64_t{9} << 32) + 7), c(8);
  const double first = a.uniform();
  CHECK(b.uniform() == first);
  CHECK(c.uniform() != first);
}

TEST_CASE("random: manual_seed starts again and drops the cached normal") {
  Generator generator(4);
  const double first = generator.normal();
  generator.manual_seed(4);
  CHECK(generator.normal() == first);
}

TEST_CASE("random: uniform numbers fill the range from low up to high") {
  Generator generator(2);
  std::vector<double> values(10000);
  generator.fill_uniform(values, -3.0, 5.0);
  const auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
  CHECK(*smallest >= -3.0);
  CHECK(*smallest < -2.98);
  CHECK(*largest < 5.0);
  CHECK(*largest > 4.98);
}

TEST_CASE("random: bernoulli at the ends of the range is certain, and beyond it refused") {
  Generator generator(2);
  CHECK(norm(generator.bernoulli({100}, 0.0)) == 0.0);
  CHECK(norm(generator.bernoulli({100}, 1.0)) == 10.0);
  CHECK_THROWS_WITH_AS(generator.bernoulli({1}, 1.5),
                       "[bernoulli] probability: must be a probability in [0, 1], got 1.5",
                       std::invalid_argument);
}

TEST_CASE("random: randint stays below its bound, beyond 32 bits, too") {
  Generator generator(6);
  std::vector<int> seen(5);
  for (int i = 0; i < 200; ++i) ++seen.at(static_cast<std::size_t>(generator.randint(5)));
  CHECK(*std::min_element(seen.begin(), seen.end()) > 0);
  constexpr std::int64_t kHigh = std::int64_t{1} << 40;
  std::int64_t largest = 0;
  for (int i = 0; i < 100; ++i) largest = std::max(largest, generator.randint(kHigh));
  CHECK(largest > kHigh / 2);
  CHECK(largest < kHigh);
  CHECK_THROWS_WITH_AS(generator.randint(0), "[randint] high: must be positive, got 0",
                       std::invalid_argument);
}

TEST_CASE(
    "random: a generator that is given another's state continues its stream, the cached normal "
    "included") {
  Generator one(5);
  one.rand({1000});
  one.normal();
  Generator other(77);
  other.set_state(one.state());
  CHECK(one.state().numel() == 627);
  for (int i = 0; i < 3; ++i) CHECK(one.normal() == other.normal());
  for (int i = 0; i < 2000; ++i) REQUIRE(one.next32() == other.next32());

  const Tensor state = one.state();
  for (const auto& [at, value] :
       {std::pair{0, 0.5}, {5, -1.0}, {9, 0x1p32}, {625, 2.0}, {626, HUGE_VAL}}) {
    Tensor wrong = state;
    wrong.mutable_data()[at] = value;
    CHECK_THROWS_WITH_AS(other.set_state(wrong),
                         "[Generator::set_state] state: must be one that state() returned, got a "
                         "tensor of shape (627,)",
                         std::invalid_argument);
  }
  CHECK_THROWS_AS(other.set_state(Tensor::zeros({3})), std::invalid_argument);
  CHECK(one.next64() == other.next64());
}

TEST_CASE("random: empty draws are allowed and change nothing") {
  Generator generator(1), untouched(1);
  CHECK(generator.randn({0}).numel() == 0);
  CHECK(generator.permutation(0).empty());
  CHECK(generator.permutation(1) == std::vector<std::int64_t>{0});
  CHECK(generator.next64() == untouched.next64());
  CHECK_THROWS_WITH_AS(generator.permutation(-1), "[permutation] n: must not be negative, got -1",
                       std::invalid_argument);
}

}  // namespace
}  // namespace normlab
