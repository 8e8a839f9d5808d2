// How a norm's card is shown: as text, as a row of the table of all, and as JSON.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "experiments/lab/results/json_number.hpp"
#include "experiments/norm_card/norm_card.hpp"

namespace normlab {

namespace {

using Json = nlohmann::ordered_json;

std::int64_t parameter_count(const NormCard& card) {
  std::int64_t count = 0;
  for (const auto& [name, shape] : card.parameters) count += shape.numel();
  return count;
}

std::string parameter_list(const NormCard& card) {
  std::string text;
  for (const auto& [name, shape] : card.parameters) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, shape.str());
  }
  return text.empty() ? "none" : fmt::format("{} ({} numbers)", text, parameter_count(card));
}

std::string invariance_lines(const NormCard& card) {
  std::string text;
  for (const MeasuredInvariance& each : card.invariances) {
    text += fmt::format("  {:<26} {:<4} violation {:.1e}\n", each.name,
                        each.declared ? "yes" : "no", each.violation);
  }
  return text;
}

std::string scale_lines(const NormCard& card) {
  std::string text = "  input scale   |f(s x)| / |f(x)|   |f(s x) - f(x)| / |f(x)|\n";
  for (const NormCard::ScaleEffect& each : card.scale_effects) {
    text +=
        fmt::format("  {:11.0e}   {:17.6g}   {:24.2e}\n", each.input_scale, each.size, each.change);
  }
  return text;
}

std::string jacobian_lines(const NormCard& card) {
  std::string text = fmt::format("  null space: dimension {}", card.null_dimension);
  for (const NormCard::NullDirection& each : card.null_space) {
    text += fmt::format("{} {} {:.3f}", &each == &card.null_space.front() ? "; share of" : ",",
                        each.name, each.share);
  }
  text += "\n  input scale   largest singular value   times |y| / sqrt(d)\n";
  for (const NormCard::LargestSingularValue& each : card.largest_singular_values) {
    text += fmt::format("  {:11.0e}   {:22.6g}   {:19.6g}\n", each.input_scale, each.value,
                        each.times_size);
  }
  if (card.closed_form_error) {
    text += fmt::format("  closed form at eps 0: relative error {:.1e}\n", *card.closed_form_error);
  }
  return text;
}

// "positive scale" -> "scale", "permutation of features" -> "permute", else the first word.
std::string short_name(const std::string& invariance) {
  if (invariance == "positive scale") return "scale";
  if (invariance.starts_with("permutation")) return "permute";
  return invariance.substr(0, invariance.find(' '));
}

Json card_json(const NormCard& card) {
  Json parameters = Json::object(), invariances = Json::array(), scales = Json::array(),
       null_space = Json::array(), singular = Json::array();
  for (const auto& [name, shape] : card.parameters) parameters[name] = shape.extents();
  for (const MeasuredInvariance& each : card.invariances) {
    invariances.push_back({{"name", each.name},
                           {"declared", each.declared},
                           {"violation", json_number(each.violation)}});
  }
  for (const NormCard::ScaleEffect& each : card.scale_effects) {
    scales.push_back({{"input_scale", each.input_scale},
                      {"size", json_number(each.size)},
                      {"change", json_number(each.change)}});
  }
  for (const NormCard::NullDirection& each : card.null_space) {
    null_space.push_back({{"direction", each.name}, {"share", json_number(each.share)}});
  }
  for (const NormCard::LargestSingularValue& each : card.largest_singular_values) {
    singular.push_back({{"input_scale", each.input_scale},
                        {"value", json_number(each.value)},
                        {"times_size", json_number(each.times_size)}});
  }
  return {
      {"norm", card.entry.name},
      {"width", card.width},
      {"eps", card.eps ? Json(*card.eps) : Json("default")},
      {"equation", card.entry.equation},
      {"statistics", card.entry.statistics},
      {"parameters", parameters},
      {"invariances", invariances},
      {"scale_effects", scales},
      {"null_dimension", card.null_dimension},
      {"null_space", null_space},
      {"largest_singular_values", singular},
      {"closed_form_error", card.closed_form_error ? json_number(*card.closed_form_error) : Json()},
      {"gradient_error", json_number(card.gradient_error)},
      {"c2", card.c2 ? json_number(*card.c2) : Json()}};
}

}  // namespace

std::string text_of(const NormCard& card) {
  std::string text = fmt::format("{}: {}\n", card.entry.name, card.entry.description);
  text += fmt::format("  {}\n", card.entry.equation);
  text += fmt::format("  shared statistics: {}\n", card.entry.statistics);
  text += fmt::format("  width {}, eps {}\n", card.width,
                      card.eps ? fmt::format("{:g}", *card.eps) : "its default");
  text += fmt::format("  parameters: {}\n\n", parameter_list(card));
  text += "invariances, as promised and as measured by check_norm (its sizes, default eps)\n" +
          invariance_lines(card);
  text += "\nscaling the input: a norm that is invariant changes only through its eps\n" +
          scale_lines(card);
  text += "\nJacobian at a random token x, y = x - mean(x)\n" + jacobian_lines(card);
  text += fmt::format("\ngradient check: worst relative error {:.1e}\n", card.gradient_error);
  if (card.c2) {
    text += fmt::format("C2: largest difference to LayerNorm on centred tokens {:.1e}\n", *card.c2);
  }
  return text;
}

// All fits 80 columns.
std::string table_of(const std::vector<NormCard>& cards) {
  std::string text = fmt::format("{:<13}{:>6}", "norm", "params");
  for (const MeasuredInvariance& each : cards.front().invariances) {
    text += fmt::format(" {:>7}", short_name(each.name));
  }
  text += fmt::format(" {:>4}\n", "null");
  for (const NormCard& card : cards) {
    text += fmt::format("{:<13}{:>6}", card.entry.name, parameter_count(card));
    for (const MeasuredInvariance& each : card.invariances) {
      text += fmt::format(" {:>7}", each.declared ? "yes" : "no");
    }
    text += fmt::format(" {:>4}\n", card.null_dimension);
  }
  return text;
}

std::string json_of(const std::vector<NormCard>& cards) {
  Json all = Json::array();
  for (const NormCard& card : cards) all.push_back(card_json(card));
  const Json document = {{"experiment", "norm_card"}, {"version", NORMLAB_VERSION}, {"cards", all}};
  return document.dump(1) + "\n";
}

}  // namespace normlab
