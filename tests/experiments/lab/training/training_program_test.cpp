#include "experiments/lab/training/training_program.hpp"

#include <filesystem>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "experiments/lab/training/training_json.hpp"

using namespace normlab;

namespace {

// A checkpoint of a program "p" whose metadata has these options.
class Saved {
 public:
  explicit Saved(const std::string& options) {
    Safetensors file;
    file.metadata["normlab.p"] = options;
    write_safetensors(path.string(), file);
  }
  ~Saved() { std::filesystem::remove(path); }
  Saved(const Saved&) = delete;
  Saved& operator=(const Saved&) = delete;

  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / "normlab_training_program_test.safetensors";
};

TrainingOptions unusual() {
  return {.dropout = 0.1,
          .optimizer = "radam",
          .lr = 0.1 + 0.2,  // 17 digits
          .schedule = "step",
          .warmup = 3,
          .epochs = 4,
          .batch_size = 5,
          .clip = 0.5,
          .seed = 18446744073709551615ULL};
}

// What a program that is given these arguments resumes with.
TrainingOptions resumed(const std::string& metadata, const std::vector<const char*>& arguments) {
  const Saved saved(metadata);
  TrainingOptions training;
  Checkpoints checkpoints;
  lab::Options options("p", "", "");
  add_training_options(options, training, "images");
  add_checkpoint_options(options, checkpoints);
  const std::string path = saved.path.string();
  std::vector<const char*> argv{"p", "--resume", path.c_str()};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  std::string answer;
  REQUIRE(options.parse(static_cast<int>(argv.size()), argv.data(), answer));
  take_options(options, read_resumed(options, checkpoints, "p"), checkpoints, "p");
  return training;
}

std::string refusal(const std::string& metadata, const std::vector<const char*>& arguments = {}) {
  try {
    resumed(metadata, arguments);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("checkpoint options: a run goes on with every option of its checkpoint") {
  const auto theirs = json_of(unusual());
  CHECK(json_of(TrainingOptions()) != theirs);
  CHECK(json_of(resumed(theirs.dump(), {})) == theirs);
}

TEST_CASE("checkpoint options: those that are given must be the same") {
  const std::string theirs = json_of(unusual()).dump();
  CHECK(json_of(resumed(theirs, {"--dropout", "0.10", "--schedule", "step"})).dump() == theirs);
  CHECK(has(refusal(theirs, {"--dropout", "0.2"}),
            "--dropout: must be as in the checkpoint, 0.1, got 0.2"));
  CHECK(has(refusal(theirs, {"--schedule", "linear"}),
            "--schedule: must be as in the checkpoint, step, got linear"));
  // Given with its default, and yet another than the checkpoint's.
  CHECK(has(refusal(theirs, {"--clip", "1"}), "--clip: must be as in the checkpoint, 0.5, got 1"));
}

TEST_CASE("checkpoint options: what the command line refuses is refused in a checkpoint") {
  const auto with = [](const char* key, const nlohmann::ordered_json& value) {
    auto theirs = json_of(unusual());
    theirs[key] = value;
    return theirs.dump();
  };
  CHECK(has(refusal(with("epochs", 1000000000000000000)),
            "its normlab.p cannot be read: --epochs: must be a whole number from 1 to 1000000"));
  CHECK(has(refusal(with("warmup", 1.5)), "--warmup: must be a whole number"));
  CHECK(has(refusal(with("optimizer", "lion")), "--optimizer: must be one of sgd"));
  CHECK(has(refusal(with("lr", nullptr)), "--lr: must be a finite number"));
  auto theirs = json_of(unusual());
  theirs.erase("seed");
  CHECK(has(refusal(theirs.dump()), "there is no seed"));
  for (const char* text : {"{", "", "[1]", "{\"seed\":1,\"seed\":2}"}) {
    CAPTURE(text);
    CHECK(has(refusal(text), "normlab.p cannot be read"));
  }
  const std::string nested(200'000, '[');
  CHECK(has(refusal(nested), "normlab.p cannot be read"));
}
