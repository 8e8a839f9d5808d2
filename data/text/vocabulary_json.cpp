// Tested by tests/data/text/vocabulary_test.cpp.
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/check.hpp"
#include "core/json/strict_json.hpp"
#include "data/text/utf8.hpp"
#include "data/text/vocabulary.hpp"

namespace normlab {

namespace {

constexpr std::string_view kOp = "Vocabulary::load";

nlohmann::ordered_json parse(std::string_view text) {
  try {
    // An object of arrays of pairs.
    nlohmann::ordered_json object = parse_json(text, {.depth = 3});
    check_json_keys(object, {"unit", "characters", "merges"});
    return object;
  } catch (const JsonError& error) {
    fail(kOp, "json", "must be a saved vocabulary", fmt::format("text that {}", error.what()));
  }
}

// A value from the file for an error message, which must not become as long as the file.
std::string shown(const nlohmann::ordered_json& value) {
  return value.is_string() ? quote_json(value.get<std::string>()) : value.type_name();
}

// The elements of an array of strings.
std::vector<std::string> strings(const nlohmann::ordered_json& array, std::string_view argument) {
  check(array.is_array(), kOp, argument, "must be an array of strings",
        [&] { return shown(array); });
  std::vector<std::string> result;
  for (const nlohmann::ordered_json& element : array) {
    check(element.is_string(), kOp, argument, "must be an array of strings",
          [&] { return fmt::format("an array with {}", shown(element)); });
    result.push_back(element.get<std::string>());
  }
  return result;
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
  const nlohmann::ordered_json object = parse(json);
  Vocabulary vocabulary;
  const nlohmann::ordered_json& unit = object["unit"];
  check(unit == "character" || unit == "subword", kOp, "unit", "must be character or subword",
        [&] { return shown(unit); });
  vocabulary.unit_ = unit == "subword" ? Unit::subword : Unit::character;
  for (const std::string& character : strings(object["characters"], "characters")) {
    check(split_characters(character, kOp).size() == 1 && !vocabulary.numbers_.contains(character),
          kOp, "characters", "must be different single characters",
          [&] { return quote_json(character); });
    vocabulary.add(character);
    ++vocabulary.character_count_;
  }
  check(vocabulary.unit_ == Unit::character || vocabulary.numbers_.contains(" "), kOp, "characters",
        "must contain the space, which begins every word, where the unit is subword",
        [&] { return fmt::format("{} characters without it", vocabulary.character_count_); });
  const auto number = [&](const std::string& token) {
    const auto found = vocabulary.numbers_.find(token);
    check(found != vocabulary.numbers_.end(), kOp, "merges",
          "must join tokens that are defined before", [&] { return quote_json(token); });
    return found->second;
  };
  const nlohmann::ordered_json& pairs = object["merges"];
  check(pairs.is_array(), kOp, "merges", "must be an array of pairs", [&] { return shown(pairs); });
  check(pairs.empty() || vocabulary.unit_ == Unit::subword, kOp, "merges",
        "must be empty where the unit is character",
        [&] { return fmt::format("{}", pairs.size()); });
  std::vector<Merge> merges;
  for (const nlohmann::ordered_json& pair : pairs) {
    const std::vector<std::string> parts = strings(pair, "merges");
    check(parts.size() == 2, kOp, "merges", "must be pairs",
          [&] { return fmt::format("{} strings", parts.size()); });
    merges.push_back({number(parts[0]), number(parts[1]), vocabulary.add(parts[0] + parts[1])});
  }
  vocabulary.set_merges(std::move(merges));
  return vocabulary;
}

}  // namespace normlab
