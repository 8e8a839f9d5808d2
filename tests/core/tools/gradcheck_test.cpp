// The checker is fed wrong rules here: a check that accepts one of them proves nothing elsewhere.
#include "core/tools/gradcheck.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include <doctest/doctest.h>

#include "core/kernels/map.hpp"
#include "core/ops/activation.hpp"
#include "core/ops/arithmetic.hpp"
#include "core/ops/elementwise.hpp"
#include "core/ops/layer_norm.hpp"
#include "core/ops/reduce.hpp"
#include "core/ops/softmax.hpp"
#include "core/random.hpp"
#include "tests/core/wrong_rules.hpp"

namespace normlab {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Tensor numbers(const Shape& shape, std::uint64_t seed = 1) { return Generator(seed).randn(shape); }

Var cube(const std::vector<Var>& in) { return wrong_cube(in[0], 1.0); }  // with the right factor

TEST_CASE("gradcheck: accepts right rules, of several inputs and of rank 0") {
  const GradcheckResult result =
      check_gradients([](const std::vector<Var>& in) { return tanh(in[0] * in[1]) + exp(in[2]); },
                      {numbers({3, 4}), numbers({4}, 2), numbers({}, 3)});
  CHECK_MESSAGE(result.passed, result.report);
  CHECK(result.worst_relative_error <= 1e-8);
  CHECK(check_gradients(cube, {numbers({5})}).passed);
  CHECK(
      check_gradients([](const std::vector<Var>& in) { return softmax(in[0]); }, {numbers({3, 5})})
          .passed);
}

TEST_CASE("gradcheck: rejects a rule that is off by 0.1 %") {
  const GradcheckResult result = check_gradients(
      [](const std::vector<Var>& in) { return wrong_cube(in[0], 1.001); }, {numbers({5})});
  CHECK_FALSE(result.passed);
  CHECK(std::abs(result.worst_relative_error - 1e-3) <= 1e-5);
}

TEST_CASE("gradcheck: accepts an error below its tolerance only") {
  const auto off_by_1e_6 = [](const std::vector<Var>& in) { return wrong_cube(in[0], 1.0 + 1e-6); };
  CHECK_FALSE(check_gradients(off_by_1e_6, {numbers({5})}).passed);
  CHECK(check_gradients(off_by_1e_6, {numbers({5})}, {.tolerance = 1e-5}).passed);
}

TEST_CASE("gradcheck: rejects a missing term") {
  const GradcheckResult result =
      check_gradients([](const std::vector<Var>& in) { return softmax_without_mean_term(in[0]); },
                      {numbers({3, 5})});
  CHECK_FALSE(result.passed);
}

TEST_CASE("gradcheck: rejects `=` for `+=` where an input is used twice") {
  CHECK_FALSE(check_gradients(
                  [](const std::vector<Var>& in) { return product_that_overwrites(in[0], in[0]); },
                  {numbers({5})})
                  .passed);
  CHECK(check_gradients(  // the same rule cannot be told from a right one with distinct inputs
            [](const std::vector<Var>& in) { return product_that_overwrites(in[0], in[1]); },
            {numbers({5}), numbers({5}, 2)})
            .passed);
}

TEST_CASE("gradcheck: rejects one wrong element of a large tensor, and names it") {
  constexpr std::int64_t kWrong = 1234;
  const GradcheckResult result = check_gradients(
      [](const std::vector<Var>& in) { return square_with_wrong_element(in[0], kWrong, 1.001); },
      {Tensor::full({40, 50}, 2.0)});
  CHECK_FALSE(result.passed);
  CHECK(result.worst_relative_error > 1e-7);
  CHECK(result.report.find("worst element 1234:") != std::string::npos);
}

TEST_CASE("gradcheck: one bad input of several fails the check") {
  const GradcheckResult result = check_gradients(
      [](const std::vector<Var>& in) { return square(in[0]) + wrong_cube(in[1], 2.0); },
      {numbers({4}), numbers({4}, 2)});
  CHECK_FALSE(result.passed);
  CHECK(result.report.find("ok     input 0 (4,)") == 0);
  CHECK(result.report.find("FAILED input 1 (4,)") != std::string::npos);
}

TEST_CASE("gradcheck: rejects a gradient of zero that was not expected") {
  const auto f = [](const std::vector<Var>& in) { return square(in[0]) + in[1] * 0.0; };
  const GradcheckResult result = check_gradients(f, {numbers({4}), numbers({4}, 2)});
  CHECK_FALSE(result.passed);
  CHECK(result.worst_relative_error == kInf);
  CHECK(result.report.find("(a gradient of zero was not expected)") != std::string::npos);
}

TEST_CASE("gradcheck: rejects an input whose backward was forgotten") {
  CHECK_FALSE(check_gradients(
                  [](const std::vector<Var>& in) {
                    return square(in[0]) + square(in[1].tape().constant(in[1].value()));
                  },
                  {numbers({4}), numbers({4}, 2)})
                  .passed);
}

TEST_CASE("gradcheck: an expected zero passes within rounding, and anything else fails") {
  // softmax ignores a shift of all its inputs
  const auto shifted = [](const std::vector<Var>& in) { return softmax(in[0] + in[1]); };
  const std::vector<Tensor> inputs{numbers({2, 5}), numbers({2, 1}, 2)};
  CHECK_FALSE(check_gradients(shifted, inputs).passed);
  const GradcheckResult result = check_gradients(shifted, inputs, {.expect_zero = {1}});
  CHECK_MESSAGE(result.passed, result.report);
  CHECK_FALSE(check_gradients(shifted, inputs, {.expect_zero = {0, 1}}).passed);
  const auto not_shifted = [](const std::vector<Var>& in) { return softmax(in[0] * in[1]); };
  CHECK_FALSE(check_gradients(not_shifted, inputs, {.expect_zero = {1}}).passed);
  // Exactly zero on both sides needs no other gradient to be measured by.
  const auto vanishing = [](const std::vector<Var>& in) { return in[0] * 0.0; };
  CHECK(check_gradients(vanishing, {numbers({3})}, {.expect_zero = {0}}).passed);
  CHECK_FALSE(check_gradients(cube, {numbers({3})}, {.expect_zero = {0}}).passed);
}

TEST_CASE("gradcheck: rejects NaN on either side, expected to be zero or not") {
  const auto nan_gradient = [](const std::vector<Var>& in) { return wrong_cube(in[0], kNaN); };
  const GradcheckResult result = check_gradients(nan_gradient, {numbers({4})});
  CHECK_FALSE(result.passed);
  CHECK(result.worst_relative_error == kInf);
  const auto nan_value = [](const std::vector<Var>& in) { return square(in[0]) + in[1] * kNaN; };
  CHECK_FALSE(check_gradients(nan_value, {numbers({4}), numbers({4}, 2)}).passed);
  // An analytic zero beside a numerical NaN.
  const auto hidden = [](const std::vector<Var>& in) {
    const Var lost = in[1].tape().constant(map(in[1].value(), [](double) { return kNaN; }));
    return square(in[0]) + lost;
  };
  CHECK_FALSE(
      check_gradients(hidden, {numbers({4}), numbers({4}, 2)}, {.expect_zero = {1}}).passed);
  const auto one_nan = [](const std::vector<Var>& in) {
    return square_with_wrong_element(in[0], 2, kNaN);
  };
  CHECK(check_gradients(one_nan, {numbers({4})}).report.find("worst element 2:") !=
        std::string::npos);
}

// L would be constant if it were the sum of the outputs: then these would pass.
TEST_CASE("gradcheck: rejects a softmax and a layer_norm whose backward gives zeros") {
  const GradcheckResult softmax_result = check_gradients(
      [](const std::vector<Var>& in) { return with_zero_gradient(softmax(in[0]), in[0]); },
      {numbers({3, 5})});
  CHECK_FALSE(softmax_result.passed);
  CHECK(softmax_result.worst_relative_error == 1.0);
  CHECK_FALSE(check_gradients(
                  [](const std::vector<Var>& in) {
                    return with_zero_gradient(layer_norm(in[0], {5}), in[0]);
                  },
                  {numbers({3, 5})})
                  .passed);
}

TEST_CASE("gradcheck: step sizes from 1e-2 to 1e-10 on softmax and layer_norm") {
  const auto error = [](const Function& f, double step) {
    return check_gradients(f, {numbers({3, 5})}, {.step = step}).worst_relative_error;
  };
  const Function functions[] = {
      [](const std::vector<Var>& in) { return softmax(in[0]); },
      [](const std::vector<Var>& in) { return layer_norm(in[0], {5}); },
  };
  for (const Function& f : functions) {
    CHECK(error(f, GradcheckOptions{}.step) <= 1e-9);
    CHECK(error(f, 1e-6) <= 1e-8);
    CHECK(error(f, 1e-2) > 1e-7);   // the remainder h^2
    CHECK(error(f, 1e-10) > 1e-7);  // rounding over h: right rules fail with too small a step
    CHECK(error(f, 1e-2) / error(f, 1e-3) > 80.0);
    CHECK(error(f, 1e-2) / error(f, 1e-3) < 120.0);
  }
}

TEST_CASE("gradcheck: the Taylor remainder has order 2 for a right rule and 1 for a wrong one") {
  const auto order = [](const Function& f) { return taylor_remainder_order(f, {numbers({3, 5})}); };
  CHECK(std::abs(order([](const std::vector<Var>& in) { return softmax(in[0]); }) - 2.0) <= 0.05);
  CHECK(std::abs(order([](const std::vector<Var>& in) { return layer_norm(in[0], {5}); }) - 2.0) <=
        0.05);
  CHECK(std::abs(order(cube) - 2.0) <= 0.05);
  CHECK(std::abs(order([](const std::vector<Var>& in) { return wrong_cube(in[0], 1.1); }) - 1.0) <=
        0.1);
  CHECK(
      std::abs(order([](const std::vector<Var>& in) { return softmax_without_mean_term(in[0]); }) -
               1.0) <= 0.1);
  CHECK(std::abs(order([](const std::vector<Var>& in) {
                   return with_zero_gradient(softmax(in[0]), in[0]);
                 }) -
                 1.0) <= 0.1);
}

TEST_CASE("gradcheck: an element at a kink is named, with the way out") {
  const Function kinked = [](const std::vector<Var>& in) { return relu(in[0]); };
  const GradcheckResult at = check_gradients(kinked, {Tensor({3}, {1, 0, -2})});
  CHECK_FALSE(at.passed);
  CHECK(at.report.find("worst element 1") != std::string::npos);
  CHECK(at.report.find("a kink: the slope is") != std::string::npos);
  CHECK(at.report.find("move this element away from it by more than 6.1e-06") != std::string::npos);
  const Function limited = [](const std::vector<Var>& in) { return clamp(in[0], -1.0, 2.0); };
  CHECK(check_gradients(limited, {Tensor({2}, {0, 2})}).report.find("a kink") != std::string::npos);
  // Near a kink, within the step.
  CHECK(check_gradients(kinked, {Tensor({2}, {1, 1e-7})}).report.find("a kink") !=
        std::string::npos);
  CHECK_THROWS_WITH_AS(taylor_remainder_order(kinked, {Tensor({3}, {0, 0, 0})}),
                       doctest::Contains("must not lie at a kink of the function, got slopes"),
                       std::invalid_argument);
}

TEST_CASE("gradcheck: a wrong rule of a smooth function is not called a kink") {
  const Function wrong = [](const std::vector<Var>& in) { return wrong_cube(in[0], 1.1); };
  for (double x : {1.0, 0.0, 1e-3}) {  // at 0 the slope itself vanishes
    const GradcheckResult result = check_gradients(wrong, {Tensor({2}, {x, 2.0})});
    CHECK_FALSE(result.passed);
    CHECK(result.report.find("kink") == std::string::npos);
  }
  const Function square_without_gradient = [](const std::vector<Var>& in) {
    return with_zero_gradient(square(in[0]), in[0]);
  };
  const GradcheckResult result = check_gradients(square_without_gradient, {Tensor({1}, {0.0})});
  CHECK_FALSE(result.passed);
  CHECK(result.report.find("kink") == std::string::npos);
}

TEST_CASE("gradcheck: parameters are checked where they are, and left as they were") {
  Parameter w{"w", numbers({4})}, frozen{"frozen", numbers({4}, 2), {}, false};
  const Tensor before = w.value;
  const auto f = [&](Tape& tape) { return square(tape.watch(w)) * tape.watch(frozen); };
  const GradcheckResult result = check_parameter_gradients(f, {&w});
  CHECK(result.passed);
  CHECK(result.report.find("ok     w (4,): relative error") == 0);
  CHECK(max_abs_difference(w.value, before) == 0.0);
  CHECK_FALSE(check_parameter_gradients(f, {&w, &frozen}).passed);  // it has no gradient
}

TEST_CASE("gradcheck: an old gradient of a parameter does not count") {
  Parameter w{"w", numbers({4})};
  w.grad = Tensor::full({4}, 100.0);
  CHECK(check_parameter_gradients([&](Tape& tape) { return square(tape.watch(w)); }, {&w}).passed);
}

TEST_CASE("gradcheck: empty tensors are passed over, nothing to check at all is refused") {
  const auto f = [](const std::vector<Var>& in) { return square(in[0]) + sum(in[1]); };
  CHECK(check_gradients(f, {numbers({3}), Tensor::zeros({0})}).passed);
  CHECK_THROWS_WITH_AS(check_gradients(cube, {}),
                       "[check_gradients] inputs: must be at least one, got none",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(check_gradients(cube, {numbers({3})}, {.expect_zero = {1}}),
                       "[check_gradients] expect_zero: must hold indices of inputs, got 1",
                       std::invalid_argument);
}

}  // namespace
}  // namespace normlab
