#include "nn/checkpoint/safetensors.hpp"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <set>
#include <stdexcept>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/random.hpp"
#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

std::string raw(const void* from, std::size_t size) {
  return {static_cast<const char*>(from), size};
}

// The bytes of a file with this header, which may be wrong, and so many zero bytes of data.
std::string make_file(const std::string& header, std::size_t data_bytes) {
  const std::uint64_t size = header.size();
  return raw(&size, sizeof size) + header + std::string(data_bytes, '\0');
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return fmt::format(R"({{"dtype":"{}","shape":{},"data_offsets":{}}})", dtype, shape, offsets);
}

// Checks that the bytes are refused as damaged with this in the message; any other exception is an
// error.
void check_damaged(const std::string& bytes, const std::string& part) {
  CAPTURE(part);
  try {
    parse_safetensors(bytes, "a.safetensors");
    FAIL_CHECK("it was read");
  } catch (const std::runtime_error& error) {
    const std::string message = error.what();
    CAPTURE(message);
    CHECK(message.starts_with("[safetensors] a.safetensors: "));
    CHECK(message.find(part) != std::string::npos);
    CHECK(message.find(". HINT: ") != std::string::npos);
  }
}

Safetensors sample() {
  return {{{"w", Tensor({2, 3}, {1, -2, 3, 0.1, 1e300, 5e-324})},
           {"none", Tensor::zeros({0, 4})},
           {"scalar", Tensor::scalar(-0.0)},
           {"b", Tensor({2}, {7, 8})}},
          {{"key", "text \"quoted\" \xc3\xa4"}}};
}

bool same(const Safetensors& a, const Safetensors& b) {
  if (a.metadata != b.metadata || a.tensors.size() != b.tensors.size()) return false;
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    const auto& [name, x] = a.tensors[i];
    const auto& [other_name, y] = b.tensors[i];
    if (name != other_name || x.shape() != y.shape()) return false;
    const auto size = static_cast<std::size_t>(x.numel()) * sizeof(double);
    if (size > 0 && std::memcmp(x.data(), y.data(), size) != 0) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("safetensors: the bytes of a file, by hand") {
  const std::string bytes = to_safetensors({{{"a", Tensor({1}, {1.0})}}, {{"k", "v"}}});
  const std::string header =
      R"({"__metadata__":{"k":"v"},"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}})";
  const std::uint64_t size = (header.size() + 7) / 8 * 8;  // padded, so that the data is aligned
  const double one = 1.0;
  CHECK(bytes == raw(&size, 8) + header + std::string(size - header.size(), ' ') + raw(&one, 8));
  CHECK(to_safetensors({}) == std::string("\x08\0\0\0\0\0\0\0{}      ", 16));
}

TEST_CASE("safetensors: what is written is read, bit by bit, NaN and infinity included") {
  Safetensors contents = sample();
  double nan = 0.0;
  const std::uint64_t with_payload = 0x7ff8'0000'dead'beef;
  std::memcpy(&nan, &with_payload, sizeof nan);
  contents.tensors.emplace_back("not finite", Tensor({3}, {nan, -HUGE_VAL, HUGE_VAL}));
  const std::string bytes = to_safetensors(contents);
  CHECK(same(parse_safetensors(bytes, "a"), contents));
  CHECK(to_safetensors(parse_safetensors(bytes, "a")) == bytes);
  CHECK(same(parse_safetensors(to_safetensors({}), "a"), {}));
}

TEST_CASE("safetensors: F32 and I64 are read as doubles, in any order of names") {
  const float f[] = {0.1F, -3.0F};
  const std::int64_t count = std::int64_t{1} << 53;
  const std::string header =
      "{\"n\":" + entry("I64", "[]", "[8,16]") + ",\"f\":" + entry("F32", "[2]", "[0,8]") + "}";
  const auto read =
      parse_safetensors(make_file(header, 0) + raw(f, 8) + raw(&count, 8), "a").tensors;
  REQUIRE(read.size() == 2);
  CHECK(read[0].first == "f");
  CHECK(read[0].second.at({0}) == static_cast<double>(0.1F));
  CHECK(read[1].second.item() == 0x1p53);
  CHECK(
      parse_safetensors(make_file(header, 0) + raw(f, 8) + raw(&count, 8), "a").single_precision ==
      std::set<std::string>{"f"});
  for (const std::int64_t too_large : {count + 1, count + 2, -count - 1}) {
    check_damaged(make_file(header, 8) + raw(&too_large, 8), "\"n\" holds an integer beyond 2^53");
  }
}

TEST_CASE("safetensors: white space around the header's object is read, as by the reference") {
  for (const char* space : {" ", "\t", "\n", "\r\n  \t"}) {
    const std::string header = space + ("{\"a\":" + entry("F64", "[1]", "[0,8]") + "}") + space;
    CHECK(parse_safetensors(make_file(header, 8), "a").tensors.size() == 1);
  }
}

TEST_CASE("safetensors: every kind of damage has its own message") {
  const std::string good = entry("F64", "[2]", "[0,16]");
  const auto with = [&](const std::string& a) { return make_file("{\"a\":" + a + "}", 16); };
  CHECK(parse_safetensors(with(good), "a").tensors.size() == 1);
  // Sizes
  check_damaged("", "is shorter than the 8 bytes");
  check_damaged("1234567", "is shorter than the 8 bytes");
  check_damaged(with(good).substr(0, 20), "ends within its header of");
  check_damaged(with(good).substr(0, with(good).size() - 1), "and there are 15 bytes of data");
  check_damaged(with(good) + "x", "1 bytes at its end belong to no tensor");
  const std::uint64_t huge = 100'000'001, all = std::numeric_limits<std::uint64_t>::max();
  check_damaged(raw(&huge, 8) + "{}", "would have 100000001 bytes, at most 100000000 are read");
  check_damaged(raw(&all, 8) + "{}", "would have 18446744073709551615 bytes");
  // JSON
  check_damaged(make_file("", 0), "does not start with {");
  check_damaged(make_file(" ", 0), "does not start with {");
  check_damaged(make_file("\f{}", 0), "does not start with {");
  check_damaged(make_file("[]", 0), "does not start with {");
  check_damaged(make_file("{\"a\":", 0), "is not JSON from byte");
  check_damaged(make_file("{} {}", 0), "is not JSON from byte 4");
  check_damaged(make_file(std::string("{}\0", 3), 0), "its header holds a zero byte");
  check_damaged(make_file("{\"\xff\":1}", 0), "is not JSON");
  check_damaged(make_file("{\"a\":1e999}", 0), "a number that is too large");
  check_damaged(make_file("{\"a\":" + std::string(100000, '[') + "}", 0), "nested too deeply");
  check_damaged(make_file("{\"a\":" + good + ",\"a\":" + good + "}", 16),
                "has the name \"a\" twice");
  check_damaged(with(R"({"dtype":"F64","shape":[2],"shape":[2],"data_offsets":[0,16]})"),
                "has the name \"shape\" twice");
  // Entries
  check_damaged(with("1"), "\"a\" is not an object");
  check_damaged(with("[]"), "\"a\" is not an object");
  check_damaged(with(R"({"dtype":"F64","shape":[2]})"), "must have dtype, shape and data_offsets");
  check_damaged(with(R"({"dtype":"F64","shape":[2],"data_offsets":[0,16],"more":1})"),
                "and nothing else");
  check_damaged(with(R"({"dtype":1,"shape":[2],"data_offsets":[0,16]})"),
                "a dtype that is not text");
  check_damaged(with(entry("BF16", "[8]", "[0,16]")), "has the dtype \"BF16\", F64, F32 and I64");
  check_damaged(with(entry("F64", "2", "[0,16]")), "\"a\" has a shape that is no list");
  check_damaged(with(entry("F64", "[-2]", "[0,16]")), "a shape with something else than whole");
  check_damaged(with(entry("F64", "[2.0]", "[0,16]")), "a shape with something else than whole");
  check_damaged(with(entry("F64", "[\"2\"]", "[0,16]")), "a shape with something else than whole");
  check_damaged(with(entry("F64", "[2]", "[0]")), "must have two data_offsets");
  check_damaged(with(entry("F64", "[2]", "[0,16,16]")), "must have two data_offsets");
  check_damaged(with(entry("F64", "[2]", "[0,true]")), "data_offsets with something else");
  check_damaged(with(entry("F64", "[2]", "[16,0]")), "has the data_offsets [16, 0]");
  check_damaged(with(entry("F64", "[2]", "[0,24]")), "has the data_offsets [0, 24]");
  check_damaged(with(entry("F64", "[3]", "[0,16]")),
                "needs 24 bytes for its shape, and its data_offsets hold 16");
  check_damaged(with(entry("F32", "[2]", "[0,16]")), "needs 8 bytes for its shape");
  check_damaged(with(entry("F64", "[4294967296,4294967296]", "[0,16]")), "too large for 64 bits");
  check_damaged(with(entry("F64", "[2305843009213693954]", "[0,16]")), "too large for 64 bits");
  check_damaged(with(entry("F64", "[0,9223372036854775808]", "[0,0]")), "too large for 64 bits");
  check_damaged(with(entry("F64", "[0,4611686018427387904,4611686018427387904]", "[0,0]")),
                "too large for 64 bits");
  // Holes and overlaps
  const auto two = [&](const std::string& a, const std::string& b) {
    return make_file("{\"a\":" + entry("F64", "[1]", a) + ",\"b\":" + entry("F64", "[1]", b) + "}",
                     24);
  };
  check_damaged(two("[0,8]", "[16,24]"), "a hole of 8 bytes before \"b\"");
  check_damaged(two("[8,16]", "[16,24]"), "a hole of 8 bytes before \"a\"");
  check_damaged(two("[0,8]", "[4,12]"), "\"b\" overlaps the tensor before it");
  check_damaged(two("[0,8]", "[0,8]"), "\"b\" overlaps the tensor before it");
  check_damaged(two("[0,8]", "[8,16]"), "8 bytes at its end belong to no tensor");
  // Metadata
  check_damaged(make_file(R"({"__metadata__":[]})", 0), "\"__metadata__\" is not an object");
  check_damaged(make_file(R"({"__metadata__":{"a":1}})", 0),
                "\"a\" of \"__metadata__\" is not text");
  check_damaged(make_file(R"({"__metadata__":{"a":"1","a":"1"}})", 0), "has the name \"a\" twice");
  check_damaged(make_file(R"({"__metadata__":{},"__metadata__":{}})", 0), "\"__metadata__\" twice");
  // Names from the file must not reach a terminal unescaped, or flood it.
  check_damaged(make_file(R"({"\u001b[2J":1})", 0), R"("\u001b[2J" is not an object)");
  check_damaged(make_file("{\"" + std::string(1000, 'n') + "\":1}", 0),
                "nnn...\" is not an object");
}

TEST_CASE("safetensors: each of ten thousand damaged files is read whole or refused") {
  const std::string good = to_safetensors(sample());
  std::uint64_t header_size = 0;
  std::memcpy(&header_size, good.data(), 8);
  int read = 0, refused = 0;
  const auto attempt = [&](const std::string& bytes) {
    try {
      std::size_t total = 0;
      std::uint64_t size = 0;
      for (const auto& [name, tensor] : parse_safetensors(bytes, "mutant").tensors) {
        total += static_cast<std::size_t>(tensor.numel()) * 8;
      }
      std::memcpy(&size, bytes.data(), 8);
      // A tensor of F32 takes half as many bytes in the file.
      REQUIRE(8 + size + total >= bytes.size());
      ++read;
    } catch (const std::runtime_error&) {
      ++refused;
    }
  };
  for (std::size_t length = 0; length < good.size(); ++length) attempt(good.substr(0, length));
  CHECK(read == 0);
  const int truncated = refused;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const char value : {'\0', '"', '{', ']', '9', '\xff', static_cast<char>(good[at] ^ 1)}) {
      std::string mutant = good;
      mutant[at] = value;
      attempt(mutant);
    }
  }
  Generator generator(4);
  const auto draw = [&](std::size_t below) {
    return static_cast<std::size_t>(generator.randint(static_cast<std::int64_t>(below)));
  };
  for (int i = 0; i < 8000; ++i) {  // pieces of the header taken from elsewhere in it
    std::string mutant = good;
    for (std::size_t cuts = 1 + draw(3); cuts > 0; --cuts) {
      const std::size_t from = 8 + draw(header_size), to = 8 + draw(header_size);
      mutant.replace(to, draw(4), good.substr(from, draw(12)));
    }
    const std::uint64_t size = header_size + mutant.size() - good.size();
    if (draw(2) == 0) std::memcpy(mutant.data(), &size, 8);
    attempt(mutant);
  }
  CHECK(read > 100);  // those whose data alone was changed, or nothing that matters
  CHECK(refused > truncated + 5000);
}

TEST_CASE("safetensors: files, and what cannot be written or read") {
  const std::string folder = std::filesystem::temp_directory_path() / "normlab_safetensors_test";
  std::filesystem::create_directories(folder);
  const std::string path = folder + "/a.safetensors";
  write_safetensors(path, sample());
  CHECK(same(read_safetensors(path), sample()));
  std::filesystem::remove_all(folder);
  for (const std::string& missing : {path, folder, std::string("/")}) {
    CHECK_THROWS_WITH_AS(read_safetensors(missing), doctest::Contains("cannot be read"),
                         std::runtime_error);
  }
  const Tensor x = Tensor::scalar(1);
  check_refused(
      [&] {
        to_safetensors({{{"a", x}, {"a", x}}});
      },
      "[safetensors] name: must be one of its own");
  check_refused([&] { to_safetensors({{{"__metadata__", x}}}); }, "[safetensors] name");
  check_refused([&] { to_safetensors({{{"a", Tensor()}}}); }, "[safetensors] a: must be a tensor");
  check_refused(
      [&] {
        to_safetensors({{{"\xff", x}}});
      },
      "[safetensors] names and metadata: must be UTF-8");
  check_refused([&] { to_safetensors({{}, {{"k", "\xff"}}}); }, "[safetensors] names and metadata");
}
