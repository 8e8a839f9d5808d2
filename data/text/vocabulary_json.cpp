// Tested by tests/data/text/vocabulary_test.cpp.
#include <nlohmann/json.hpp>

#include "core/check.hpp"
#include "data/text/utf8.hpp"
#include "data/text/vocabulary.hpp"

namespace normlab {

namespace {

constexpr std::string_view kOp = "Vocabulary::load";

nlohmann::json parse(std::string_view text) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    fail(kOp, "json", "must be JSON", error.what());
  }
}

// The strings of an array of strings.
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
  check(object.is_object() && object.contains(key), kOp, key, "must be there", "none");
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
  const auto number = [&](const std::string& token) {
    const auto found = vocabulary.numbers_.find(token);
    check(found != vocabulary.numbers_.end(), kOp, "merges", "must join tokens made before", token);
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
