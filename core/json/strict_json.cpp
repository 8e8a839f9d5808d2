// Tested by tests/core/json/strict_json_test.cpp.
#include "core/json/strict_json.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace normlab {

namespace {

using Json = nlohmann::ordered_json;

// Watches the parser and stops it at the first fault, so that a hostile text costs no memory.
class Watcher {
 public:
  explicit Watcher(const JsonLimits& limits) : limits_(limits) {}

  bool operator()(int /*depth*/, Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      if (keys_.size() == limits_.depth) {
        throw JsonError(fmt::format("is nested more than {} levels deep", limits_.depth));
      }
      keys_.emplace_back();
    } else if (event == Event::object_end || event == Event::array_end) {
      keys_.pop_back();
    } else if (event == Event::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys_.back().insert(key).second) {
        throw JsonError(fmt::format("has the key {} twice", quote_json(key)));
      }
    }
    return true;
  }

 private:
  const JsonLimits& limits_;
  std::vector<std::set<std::string>> keys_;  // of every object or array that is open
};

}  // namespace

nlohmann::ordered_json parse_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    throw JsonError(fmt::format("has {} bytes, at most {} are read", text.size(), limits.bytes));
  }
  // To nlohmann's parser a zero byte is the end of the text.
  if (text.find('\0') != std::string_view::npos) throw JsonError("holds a zero byte");
  Watcher watcher(limits);
  try {
    return Json::parse(text.begin(), text.end(),
                       [&](int depth, Json::parse_event_t event, Json& parsed) {
                         return watcher(depth, event, parsed);
                       });
  } catch (const Json::parse_error& error) {
    throw JsonError(fmt::format("is not JSON from byte {} on", error.byte));
  } catch (const Json::out_of_range&) {
    throw JsonError("holds a number that is too large");
  }
}

void check_json_keys(const nlohmann::ordered_json& json,
                     std::initializer_list<std::string_view> keys) {
  if (!json.is_object()) throw JsonError("is not an object");
  for (const std::string_view key : keys) {
    if (!json.contains(key)) throw JsonError(fmt::format("has no {}", quote_json(key)));
  }
  for (const auto& [key, value] : json.items()) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      throw JsonError(fmt::format("has the unknown key {}", quote_json(key)));
    }
  }
}

std::string quote_json(std::string_view text) {
  constexpr std::size_t kMost = 80;
  std::string shown(text.substr(0, kMost));
  if (text.size() > kMost) shown += "...";
  return Json(shown).dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace normlab
