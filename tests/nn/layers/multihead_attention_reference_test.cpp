// MultiheadAttention against its reference implementation in primitive ops.
#include <cmath>

#include <doctest/doctest.h>

#include "core/ops/arithmetic.hpp"
#include "core/ops/linear.hpp"
#include "core/ops/matmul.hpp"
#include "core/ops/reduce.hpp"
#include "core/ops/shape_ops.hpp"
#include "core/ops/softmax.hpp"
#include "nn/layers/multihead_attention.hpp"
#include "tests/nn/layers/multihead_attention_cases.hpp"

using namespace normlab;

namespace {

struct Projection {
  Var weight;
  std::optional<Var> bias;
};

// The layer in primitive ops, with the heads as a batch axis. Gradients flow through its weights
// (N, H, Tq, Tk).
struct ReferenceResult {
  Var output, weights;
};
ReferenceResult reference_attention(const Vars& in, const Projection& q, const Projection& k,
                                    const Projection& v, const Projection& out,
                                    std::int64_t heads) {
  const std::int64_t n = in[0].shape()[0], width = in[0].shape()[2], part = width / heads;
  const auto split = [&](const Var& x, const Projection& projection) {
    const Var y = linear(x, projection.weight, projection.bias);
    return permute(reshape(y, {n, x.shape()[1], heads, part}), {0, 2, 1, 3});
  };
  const Var scores = matmul(split(in[0], q), split(in[1], k), Transpose::no, Transpose::yes) /
                     std::sqrt(static_cast<double>(part));
  const Var weights = softmax(scores);
  const Var heads_joined = reshape(permute(matmul(weights, split(in[2], v)), {0, 2, 1, 3}),
                                   {n, in[0].shape()[1], width});
  return {linear(heads_joined, out.weight, out.bias), weights};
}

// The same with the parameters of a layer.
ReferenceResult reference_attention(MultiheadAttention& attention, const Vars& in,
                                    std::int64_t heads) {
  Tape& tape = in[0].tape();
  const std::int64_t width = in[0].shape()[2];
  const auto part = [&](std::int64_t i) {
    Projection p{slice(tape.watch(attention.in_proj_weight), 0, i * width, (i + 1) * width), {}};
    if (attention.in_proj_bias != nullptr) {
      p.bias = slice(tape.watch(*attention.in_proj_bias), 0, i * width, (i + 1) * width);
    }
    return p;
  };
  Projection out{tape.watch(attention.out_proj.weight), {}};
  if (attention.out_proj.bias != nullptr) out.bias = tape.watch(*attention.out_proj.bias);
  return reference_attention(in, part(0), part(1), part(2), out, heads);
}

}  // namespace

// No gradient flows through the layer's weights. So PyTorch's gradients through the weights are
// compared with the reference implementation's, and the layer's values with both.
TEST_CASE("MultiheadAttention: the reference implementation has PyTorch's gradients of weights") {
  int cases = 0;
  for (const FixtureCase& fixture : load_fixture_cases("layers.json", "multihead_attention")) {
    if (!fixture.option<bool>("weights_seeded")) continue;
    ++cases;
    const auto attention = make_attention(fixture);
    const auto f = [&](const Vars& in) {
      const Vars all = in.size() == 1 ? Vars{in[0], in[0], in[0]} : in;
      const ReferenceResult result =
          reference_attention(*attention, all, fixture.option<std::int64_t>("num_heads"));
      CHECK(relative_error(attention->attend(all[0], all[1], all[2]).output.value(),
                           result.output.value()) <= 1e-12);
      const bool averaged = fixture.option<bool>("average_attn_weights");
      const Var weights = averaged ? mean(result.weights, {1}) : result.weights;
      in[0].tape().backward(weights, tensor_of(fixture.cotangent("weights")));
      return result.output;
    };
    check_module_fixture(*attention, fixture, f);
  }
  CHECK(cases == 2);
}

TEST_CASE("MultiheadAttention: the key bias has no gradient, since softmax ignores shifts") {
  // As an input of its own, against differences ...
  const Function f = [](const Vars& in) {
    return reference_attention({in[0], in[0], in[0]}, {in[1], in[2]}, {in[3], in[4]},
                               {in[5], in[6]}, {in[7], in[8]}, 2)
        .output;
  };
  std::vector<Tensor> inputs{random({2, 3, 6})};
  for (std::uint64_t seed = 2; seed < 6; ++seed) {
    inputs.push_back(random({6, 6}, seed));
    inputs.push_back(random({6}, seed + 10));
  }
  const GradcheckResult result = check_gradients(f, inputs, {.expect_zero = {4}});
  CHECK_MESSAGE(result.passed, result.report);

  // ... and as the second third of the packed bias.
  const auto attention = small_attention();
  Tape tape;
  tape.backward(attention->forward(tape.constant(random({2, 3, 6}))), random({2, 3, 6}, 9));
  const auto gradient = attention->in_proj_bias->grad.values();
  const auto third = [&](std::size_t i) { return norm(Tensor({6}, gradient.subspan(6 * i, 6))); };
  CHECK(third(0) > 0.01);
  CHECK(third(1) <= 1e-14 * third(2));
  CHECK(third(2) > 0.01);
}

TEST_CASE("MultiheadAttention: self-attention is attention of three equal inputs") {
  const auto attention = small_attention();
  check_same([&](const Vars& in) { return attention->attend(in[0]).output; },
             [&](const Vars& in) { return attention->attend(in[0], in[0], in[0]).output; },
             {random({2, 4, 6})}, 1e-13);
  check_same([&](const Vars& in) { return attention->forward(in[0]); },
             [&](const Vars& in) {
               return reference_attention(*attention, {in[0], in[0], in[0]}, 2).output;
             },
             {random({2, 4, 6})}, 1e-13);
}
