// The strict reader: nothing in the bytes is trusted. Tested by
// tests/nn/checkpoint/safetensors_test.cpp, and fuzzed by tests/fuzz/safetensors_fuzz.cpp.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/check.hpp"
#include "core/json/strict_json.hpp"
#include "nn/checkpoint/safetensors.hpp"

namespace normlab {

namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kLargestHeader = 100'000'000;
constexpr const char* kMetadata = "__metadata__";

// The header's entry for one tensor.
struct Entry {
  std::string name, dtype;
  std::vector<std::int64_t> extents;
  std::uint64_t begin = 0, end = 0;
};

std::uint64_t size_of_element(const std::string& dtype) { return dtype == "F32" ? 4 : 8; }

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& source) : bytes_(bytes), source_(source) {}

  Safetensors read() {
    const std::string_view header = cut_header();
    parse(header);
    std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    check_contiguous();
    for (const Entry& entry : entries_) {
      result_.tensors.emplace_back(entry.name, read_tensor(entry));
      if (entry.dtype == "F32") result_.single_precision.insert(entry.name);
    }
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail_here(const std::string& problem) const {
    fail_file("safetensors", source_, problem, "get an intact copy, or write it again");
  }
  void require(bool holds, const std::string& problem) const {
    if (!holds) fail_here(problem);
  }

  // The header; bytes_ is the tensors from then on.
  std::string_view cut_header() {
    std::uint64_t size = 0;
    require(bytes_.size() >= sizeof size, "is shorter than the 8 bytes it must start with");
    std::memcpy(&size, bytes_.data(), sizeof size);
    bytes_.remove_prefix(sizeof size);
    require(
        size <= kLargestHeader,
        fmt::format("its header would have {} bytes, at most {} are read", size, kLargestHeader));
    require(size <= bytes_.size(), fmt::format("ends within its header of {} bytes", size));
    const std::string_view header = bytes_.substr(0, static_cast<std::size_t>(size));
    bytes_.remove_prefix(header.size());
    const std::size_t start = header.find_first_not_of(" \t\n\r");
    require(start != std::string_view::npos && header[start] == '{',
            "its header does not start with {");
    // The JSON parser would take a zero byte for the end of the text.
    require(header.find('\0') == std::string_view::npos, "its header holds a zero byte");
    return header;
  }

  // Each entry is checked as soon as it is complete and then dropped, so a large damaged header
  // takes no memory. (parse_json of core/json would build the whole header first.)
  void parse(std::string_view header) {
    const auto callback = [this](int, Json::parse_event_t event, Json& parsed) {
      return on_event(event, parsed);
    };
    try {
      [[maybe_unused]] const Json dropped = Json::parse(header.begin(), header.end(), callback);
    } catch (const Json::parse_error& error) {
      fail_here(fmt::format("its header is not JSON from byte {} on", error.byte));
    } catch (const Json::exception&) {
      fail_here("its header holds a number that is too large");
    }
  }

  bool on_event(Json::parse_event_t event, Json& parsed) {
    using Event = Json::parse_event_t;
    const bool starts = event == Event::object_start || event == Event::array_start;
    const bool ends = event == Event::object_end || event == Event::array_end;
    if (starts) {
      constexpr std::size_t kDeepest = 3;  // header, entry, shape
      require(names_.size() < kDeepest, "its header is nested too deeply");
      names_.emplace_back();
    }
    if (ends) names_.pop_back();
    if (event == Event::key) {
      const std::string key = parsed.get<std::string>();
      require(names_.back().insert(key).second,
              fmt::format("its header has the name {} twice", quote_json(key)));
      if (names_.size() == 1) entry_name_ = key;
    }
    const bool complete = (ends || event == Event::value) && names_.size() == 1;
    if (!complete) return true;
    read_entry(parsed);
    return false;
  }

  void read_entry(const Json& json) {
    const std::string name = quote_json(entry_name_);
    require(json.is_object(), name + " is not an object");
    if (entry_name_ == kMetadata) {
      for (const auto& [key, value] : json.items()) {
        require(value.is_string(), fmt::format("{} of {} is not text", quote_json(key), name));
        result_.metadata[key] = value.get<std::string>();
      }
      return;
    }
    require(json.size() == 3 && json.contains("dtype") && json.contains("shape") &&
                json.contains("data_offsets"),
            name + " must have dtype, shape and data_offsets, and nothing else");
    Entry entry;
    entry.name = entry_name_;
    require(json["dtype"].is_string(), name + " has a dtype that is not text");
    entry.dtype = json["dtype"].get<std::string>();
    require(entry.dtype == "F64" || entry.dtype == "F32" || entry.dtype == "I64",
            fmt::format("{} has the dtype {}, F64, F32 and I64 are read", name,
                        quote_json(entry.dtype)));
    for (const std::uint64_t extent : whole_numbers(json["shape"], name + " has a shape")) {
      require(extent <= INT64_MAX, name + " has a shape too large for 64 bits");
      entry.extents.push_back(static_cast<std::int64_t>(extent));
    }
    const auto offsets = whole_numbers(json["data_offsets"], name + " has data_offsets");
    require(offsets.size() == 2, name + " must have two data_offsets");
    entry.begin = offsets[0];
    entry.end = offsets[1];
    check_size(entry);
    entries_.push_back(std::move(entry));
  }

  std::vector<std::uint64_t> whole_numbers(const Json& json, const std::string& what) const {
    require(json.is_array(), what + " that is no list");
    std::vector<std::uint64_t> numbers;
    for (const Json& number : json) {
      require(number.is_number_unsigned(), what + " with something else than whole numbers");
      numbers.push_back(number.get<std::uint64_t>());
    }
    return numbers;
  }

  void check_size(const Entry& entry) const {
    const std::string name = quote_json(entry.name);
    require(entry.begin <= entry.end && entry.end <= bytes_.size(),
            fmt::format("{} has the data_offsets [{}, {}], and there are {} bytes of data", name,
                        entry.begin, entry.end, bytes_.size()));
    std::uint64_t size = size_of_element(entry.dtype), strides = size;
    bool fits = true;
    for (const std::int64_t extent : entry.extents) {
      const auto length = static_cast<std::uint64_t>(extent);
      fits = !__builtin_mul_overflow(size, length, &size) && fits;
      // Strides skip extents of 0, which hide an overflow from the size.
      fits = !__builtin_mul_overflow(strides, std::max<std::uint64_t>(length, 1), &strides) && fits;
    }
    require(fits && strides <= INT64_MAX, name + " has a shape too large for 64 bits");
    require(size == entry.end - entry.begin,
            fmt::format("{} needs {} bytes for its shape, and its data_offsets hold {}", name, size,
                        entry.end - entry.begin));
  }

  void check_contiguous() const {
    std::uint64_t end = 0;
    for (const Entry& entry : entries_) {
      require(entry.begin >= end, quote_json(entry.name) + " overlaps the tensor before it");
      require(entry.begin == end, fmt::format("there is a hole of {} bytes before {}",
                                              entry.begin - end, quote_json(entry.name)));
      end = entry.end;
    }
    require(end == bytes_.size(),
            fmt::format("{} bytes at its end belong to no tensor", bytes_.size() - end));
  }

  Tensor read_tensor(const Entry& entry) const {
    Tensor tensor = Tensor::uninitialized(Shape(entry.extents));
    const char* from = bytes_.data() + entry.begin;
    double* to = tensor.mutable_data();
    if (entry.dtype == "F64") {
      std::memcpy(to, from, static_cast<std::size_t>(entry.end - entry.begin));
    } else if (entry.dtype == "F32") {
      convert<float>(from, to, tensor.numel(), [](float) {});
    } else {
      constexpr std::int64_t kLargest = std::int64_t{1} << 53;
      convert<std::int64_t>(from, to, tensor.numel(), [&](std::int64_t value) {
        require(value >= -kLargest && value <= kLargest,
                quote_json(entry.name) + " holds an integer beyond 2^53, the largest that is read");
      });
    }
    return tensor;
  }

  // Calls `check` with each number as it is in the file, before it is rounded to a double.
  template <typename T, typename Check>
  static void convert(const char* from, double* to, std::int64_t count, Check check) {
    for (std::int64_t i = 0; i < count; ++i, from += sizeof(T)) {
      T value;
      std::memcpy(&value, from, sizeof value);
      check(value);
      to[i] = static_cast<double>(value);
    }
  }

  std::string_view bytes_;
  const std::string& source_;
  std::vector<std::set<std::string>> names_;  // the keys so far of every open object or array
  std::string entry_name_;                    // the current key of the outermost object
  std::vector<Entry> entries_;
  Safetensors result_;
};

}  // namespace

Safetensors parse_safetensors(std::string_view bytes, const std::string& source) {
  return Reader(bytes, source).read();
}

}  // namespace normlab
