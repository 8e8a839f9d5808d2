#include "experiments/untrained/encoder_model.hpp"

#include <numeric>

#include <doctest/doctest.h>

#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

double mean_square(const Tensor& x) {
  double sum = 0.0;
  for (const double value : x.values()) sum += value * value;
  return sum / static_cast<double>(x.numel());
}

}  // namespace

TEST_CASE("EncoderModel: the random stream fills embeddings and matrices as PyTorch's does") {
  for (const FixtureCase& fixture : load_fixture_cases("gradients.json", "encoder_model")) {
    CAPTURE(fixture.name);
    const EncoderModel::Config config{.d_model = fixture.option<std::int64_t>("width"),
                                      .nhead = fixture.option<std::int64_t>("heads"),
                                      .dim_feedforward = fixture.option<std::int64_t>("ffn")};
    const bool pre = fixture.option<std::string>("placement") == "pre";
    EncoderModel model(config, fixture.option<std::int64_t>("layers"),
                       pre ? Placement::pre : Placement::post,
                       fixture.option<std::uint64_t>("seed"));
    const Tensor first = tensor_of(fixture.output("parameter_first"));
    const Tensor sum = tensor_of(fixture.output("parameter_sum"));
    const auto parameters = model.named_parameters();
    REQUIRE(std::ssize(parameters) == first.numel());
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      CAPTURE(parameters[i].first);
      const auto values = parameters[i].second->value.values();
      const double total = std::accumulate(values.begin(), values.end(), 0.0);
      CHECK(std::abs(values[0] - first.data()[i]) <= 1e-15);
      CHECK(std::abs(total - sum.data()[i]) <= 1e-11);
    }
  }
}

TEST_CASE("EncoderModel::embed: scale * (patches E + P) / sqrt(2) with PyTorch's E and P") {
  const FixtureCase fixture = load_fixture_cases("gradients.json", "encoder_model").front();
  const Tensor e = tensor_of(fixture.output("patch_embedding"));
  const Tensor p = tensor_of(fixture.output("position_embedding"));
  const std::int64_t width = e.shape()[1];
  const EncoderModel model({.d_model = width, .nhead = 3, .dim_feedforward = 100}, 1,
                           Placement::post, fixture.option<std::uint64_t>("seed"));
  const Tensor patches = random({2, 16, 4});
  for (const double scale : {1.0, 0.125}) {
    const Tensor got = model.embed(patches, scale);
    CHECK(got.shape() == Shape{2, 16, width});
    Tensor expected = Tensor::zeros({2, 16, width});
    for (std::int64_t image = 0; image < 2; ++image) {
      for (std::int64_t token = 0; token < 16; ++token) {
        for (std::int64_t i = 0; i < width; ++i) {
          double sum = p.at({token, i});
          for (std::int64_t pixel = 0; pixel < 4; ++pixel) {
            sum += patches.at({image, token, pixel}) * e.at({pixel, i});
          }
          expected.mutable_data()[(image * 16 + token) * width + i] = scale * sum / std::sqrt(2.0);
        }
      }
    }
    CHECK(relative_error(got, expected) <= 1e-15);
  }
}

TEST_CASE("EncoderModel: Xavier variances, zero biases and unit gains") {
  EncoderModel model({.d_model = 64, .nhead = 4, .dim_feedforward = 256}, 3, Placement::pre, 1);
  for (const auto& [case_parameter_name, parameter] : model.named_parameters()) {
    const auto& parameter_name = case_parameter_name;
    CAPTURE(parameter_name);
    const Tensor& value = parameter->value;
    if (value.rank() == 2) {
      const double variance = 2.0 / static_cast<double>(value.shape()[0] + value.shape()[1]);
      // The mean of n squares strays by sqrt(2 / n) of itself; five times that.
      const double tolerance = 5.0 * std::sqrt(2.0 / static_cast<double>(value.numel()));
      CHECK(std::abs(mean_square(value) / variance - 1.0) <= tolerance);
    } else {
      const double constant = parameter_name.ends_with("bias") ? 0.0 : 1.0;
      CHECK(max_abs_difference(value, Tensor::full(value.shape(), constant)) == 0.0);
    }
  }
}

TEST_CASE("EncoderModel: a final norm for pre-norm only, and the layers' weights differ") {
  for (const Placement placement : {Placement::post, Placement::pre}) {
    EncoderModel model({.d_model = 6, .nhead = 2, .dim_feedforward = 5}, 2, placement, 0);
    CHECK((model.encoder().norm != nullptr) == (placement == Placement::pre));
    CHECK(max_abs_difference(model.encoder().layers[0]->linear2.weight.value,
                             model.encoder().layers[1]->linear2.weight.value) > 0.1);
  }
}

TEST_CASE("EncoderModel: with rmsnorm no norm has a bias") {
  EncoderModel model({.d_model = 6, .nhead = 2, .dim_feedforward = 5, .norm = "rmsnorm"}, 1,
                     Placement::pre, 0);
  int gains = 0;
  for (const auto& [case_parameter_name, parameter] : model.named_parameters()) {
    const auto& parameter_name = case_parameter_name;
    if (parameter_name.find("norm") == std::string::npos) continue;
    CHECK_MESSAGE(parameter_name.ends_with("weight"), parameter_name);
    ++gains;
  }
  CHECK(gains == 3);
}

TEST_CASE("EncoderModel: the losses of two slices add up to the loss of both") {
  EncoderModel model({.d_model = 6, .nhead = 2, .dim_feedforward = 5}, 2, Placement::post, 0);
  const Tokens tokens = tokens_of(load_digits().range(0, 5));
  const auto loss = [&](std::int64_t first, std::int64_t last) {
    Tape tape;
    return model.loss_sum(tape, tokens, 1.0, first, last).value().item();
  };
  const double all = loss(0, 5);
  CHECK(all > 0.0);
  CHECK(std::abs(loss(0, 2) + loss(2, 5) - all) <= 1e-14 * all);
}

TEST_CASE("for_each_slice: every image once, in order, at most sixteen at a time") {
  for (const std::int64_t images : {1, 15, 16, 17, 37, 256}) {
    std::int64_t next = 0;
    for_each_slice({}, images, [&](std::int64_t first, std::int64_t last) {
      CHECK(first == next);
      CHECK(last > first);
      CHECK(last - first <= 16);
      next = last;
    });
    CHECK(next == images);
  }
}

TEST_CASE("for_each_slice: all images at once where the norm looks at the whole batch") {
  int slices = 0;
  for_each_slice({.norm = "batchnorm"}, 37, [&](std::int64_t first, std::int64_t last) {
    CHECK(first == 0);
    CHECK(last == 37);
    ++slices;
  });
  CHECK(slices == 1);
}

TEST_CASE("EncoderModel: adaln-zero is the identity although all matrices are drawn") {
  EncoderModel model({.d_model = 6, .nhead = 2, .dim_feedforward = 5}, 3, Placement::ada_ln_zero,
                     0);
  Tape tape;
  Generator generator(1);
  const Var x = tape.constant(generator.randn({2, 16, 6}));
  Tensor last;  // what the blocks make of x
  model.encoder().register_hook([&](const std::string& name, const Var& value) {
    if (name == "norm.input") last = value.value();
  });
  model.encoder().forward(x);
  CHECK(max_abs_difference(last, x.value()) == 0.0);
}

TEST_CASE("EncoderModel: DeepNorm's beta is on every matrix but W_Q and W_K") {
  const EncoderModel::Config config{.d_model = 6, .nhead = 2, .dim_feedforward = 5};
  constexpr std::int64_t kDepth = 2;
  EncoderModel plain(config, kDepth, Placement::post, 3),
      deep(config, kDepth, Placement::deep_norm, 3);
  const double beta = std::pow(8.0 * kDepth, -0.25);
  for (const auto& [case_parameter_name, parameter] : plain.named_parameters()) {
    const auto& parameter_name = case_parameter_name;
    if (parameter->value.rank() != 2) continue;
    CAPTURE(parameter_name);
    const bool in_proj = parameter_name.ends_with("in_proj_weight");
    const bool head = parameter_name == "head.weight";
    const Tensor& other = deep.parameter(parameter_name).value;
    for (std::int64_t i = 0; i < parameter->value.numel(); ++i) {
      const bool scaled = !head && (!in_proj || i >= 2 * 6 * 6);
      CHECK(other.data()[i] == parameter->value.data()[i] * (scaled ? beta : 1.0));
    }
  }
}

TEST_CASE("tokens_of: patches of the standardized images, and a label per image") {
  const Tokens tokens = tokens_of(load_digits().range(0, 3));
  CHECK(tokens.patches.shape() == Shape{3, 16, 4});
  CHECK(tokens.labels == std::vector<std::int64_t>{0, 1, 2});
  CHECK(tokens.images() == 3);
  CHECK(tokens.count() == 48);
}
