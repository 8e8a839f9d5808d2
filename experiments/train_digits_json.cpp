
#include <nlohmann/json.hpp>

#include "experiments/json_number.hpp"
#include "experiments/train_digits_options.hpp"

namespace normlab {

std::string json_of(const TrainDigitsResult& result) {
  using Json = nlohmann::ordered_json;
  Json epochs = Json::array();
  for (const EpochRecord& each : result.epochs) epochs.push_back(json_of(each));
  Json document = {{"experiment", "train_digits"},
                   {"version", NORMLAB_VERSION},
                   {"config", json_of(result.options)},
                   {"epochs", epochs},
                   {"diverged", nullptr}};
  if (result.diverged) {
    document["diverged"] = {{"step", result.diverged->step},
                            {"loss", json_number(result.diverged->loss)},
                            {"grad_norm", json_number(result.diverged->grad_norm)},
                            {"origin", result.diverged->origin}};
  }
  return document.dump(1) + "\n";
}

}  // namespace normlab
