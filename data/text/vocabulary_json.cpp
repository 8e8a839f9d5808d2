// Tested by tests/data/text/vocabulary_test.cpp.
#include <set>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/check.hpp"
#include "data/text/utf8.hpp"
#include "data/text/vocabulary.hpp"

namespace normlab {

namespace {

constexpr std::string_view kOp = "Vocabulary::load";

// Looks at the events of the parser before anything is built, since nlohmann's values are copied
// and written recursively: a file nested deeply enough would overflow the stack. The deepest that
// `save` writes is a pair of merges, at depth 2.
nlohmann::json parse(std::string_view text) {
  using Event = nlohmann::json::parse_event_t;
  std::set<std::string> keys;
  const auto check_event = [&](int depth, Event event, const nlohmann::json& value) {
    const bool opens = event == Event::object_start || event == Event::array_start;
    check(!opens || (event == Event::object_start ? depth == 0 : depth <= 2), kOp, "json",
          "must be an object of a string and arrays, at most two deep",
          [&] { return fmt::format("a value at depth {}", depth); });
    check(event != Event::key || keys.insert(value.get<std::string>()).second, kOp, "json",
          "must have every key once",
          [&] { return fmt::format("a second {}", value.get<std::string>()); });
    return true;
  };
  nlohmann::json object;
  try {
    object = nlohmann::json::parse(text, check_event);
  } catch (const nlohmann::json::exception& error) {
    fail(kOp, "json", "must be JSON", error.what());
  }
  for (const std::string& key : keys) {
    check(key == "unit" || key == "characters" || key == "merges", kOp, "json",
          "must have the keys unit, characters and merges only", key);
  }
  return object;
}

// The elements of an array of strings.
std::vector<std::string> strings(const nlohmann::json& array, std::string_view argument) {
  std::vector<std::string> result;
  check(array.is_array(), kOp, argument, "must be an array of strings",
        [&] { return array.dump(); });
  for (const nlohmann::json& element : array) {
    check(element.is_string(), kOp, argument, "must be an array of strings",
          [&] { return array.dump(); });
    result.push_back(element.get<std::string>());
  }
  return result;
}

const nlohmann::json& member(const nlohmann::json& object, const char* key) {
  check(object.is_object() && object.contains(key), kOp, key, "must be present", "none");
  return object[key];
}

}  // namespace

std::string Vocabulary::save() const {
  nlohmann::json merges = nlohmann::json::array();
  for (const Merge& merge : merges_) merges.push_back({token(merge.left), token(merge.right)});
  const auto characters = tokens_.begin() + kUnknown + 1;
  return nlohmann::json{{"unit", unit_ == Unit::subword ? "subword" : "character"},
                        {"characters", std::vector(characters, characters + character_count_)},
                        {"merges", merges}}
      .dump();
}

Vocabulary Vocabulary::load(std::string_view json) {
  const nlohmann::json object = parse(json);
  Vocabulary vocabulary;
  const nlohmann::json& unit = member(object, "unit");
  check(unit == "character" || unit == "subword", kOp, "unit", "must be character or subword",
        [&] { return unit.dump(); });
  vocabulary.unit_ = unit == "subword" ? Unit::subword : Unit::character;
  for (const std::string& character : strings(member(object, "characters"), "characters")) {
    check(split_characters(character, kOp).size() == 1 && !vocabulary.numbers_.contains(character),
          kOp, "characters", "must be different single characters", character);
    vocabulary.add(character);
    ++vocabulary.character_count_;
  }
  check(vocabulary.unit_ == Unit::character || vocabulary.numbers_.contains(" "), kOp, "characters",
        "must contain the space, which begins every word, where the unit is subword",
        [&] { return fmt::format("{} characters without it", vocabulary.character_count_); });
  const auto number = [&](const std::string& token) {
    const auto found = vocabulary.numbers_.find(token);
    check(found != vocabulary.numbers_.end(), kOp, "merges",
          "must join tokens that are defined before", token);
    return found->second;
  };
  const nlohmann::json& pairs = member(object, "merges");
  check(pairs.is_array(), kOp, "merges", "must be an array of pairs", [&] { return pairs.dump(); });
  check(pairs.empty() || vocabulary.unit_ == Unit::subword, kOp, "merges",
        "must be empty where the unit is character", [&] { return pairs.dump(); });
  std::vector<Merge> merges;
  for (const nlohmann::json& pair : pairs) {
    const std::vector<std::string> parts = strings(pair, "merges");
    check(parts.size() == 2, kOp, "merges", "must be pairs", [&] { return pair.dump(); });
    merges.push_back({number(parts[0]), number(parts[1]), vocabulary.add(parts[0] + parts[1])});
  }
  vocabulary.set_merges(std::move(merges));
  return vocabulary;
}

}  // namespace normlab
