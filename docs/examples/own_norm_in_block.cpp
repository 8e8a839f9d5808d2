// docs/architecture.md: a normalization in a transformer block, without touching the block.
#include <memory>

#include <fmt/format.h>

#include "core/ops/layer_norm.hpp"
#include "nn/transformer/transformer_encoder.hpp"

using namespace normlab;

// LayerNorm without learned parameters.
class PlainNorm : public Layer {
 public:
  explicit PlainNorm(std::int64_t width) : row_{width} {}
  Var forward(const Var& x) override { return layer_norm(x, row_); }

 private:
  Shape row_;
};

int main() {
  Generator generator(0);
  TransformerEncoderLayer::Options options{
      .dim_feedforward = 16, .dropout = 0.0, .norm_first = true};
  options.norm = [](std::int64_t width) { return std::make_unique<PlainNorm>(width); };
  TransformerEncoder encoder(1, 8, 2, generator, options);  // 1 layer, width 8, 2 heads
  encoder.register_hook([](const std::string& name, const Var& value) {
    fmt::print("{:<26} {}\n", name, value.shape().str());
  });
  Tape tape;
  encoder.forward(tape.constant(generator.randn({3, 5, 8})));  // 3 sequences of 5 tokens
}
