// docs/checkpoints.md: weights of one architecture do not load into another in silence.
#include "nn/checkpoint/checkpoint.hpp"

#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

#include "nn/models/vision_transformer.hpp"

using namespace normlab;

int main() {
  const std::string path = "post.safetensors";
  Generator generator(0);
  VisionTransformer::Options options{.layers = 1, .d_model = 16, .placement = Placement::post};
  VisionTransformer trained(options, generator);
  save_model(path, trained);

  options.norm_eps = 1e-6;  // the same names, the same shapes
  VisionTransformer other(options, generator);
  try {
    load_model(path, other);
  } catch (const std::runtime_error& refusal) {
    fmt::print("{}\n\n", refusal.what());
  }
  for (const std::string& warning : load_model(path, other, Architecture::may_differ)) {
    fmt::print("loaded, although {}\n", warning);
  }

  Safetensors file = read_safetensors(path);
  file.metadata.clear();  // as PyTorch's users write it
  fmt::print("\nloaded, but {}\n", read_model(file, trained, path).front());
  std::filesystem::remove(path);
}
