#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "core/tools/gradcheck.hpp"
#include "tests/support/fixtures.hpp"

// What the tests of one op have in common. The check_ functions hold doctest assertions.
namespace normlab {

using Vars = std::vector<Var>;

// Standard normal numbers; the same seed gives the same tensor.
Tensor random(const Shape& shape, std::uint64_t seed = 1);
// The same moved away from 0 by `gap`, signs kept: clear of the kink of relu and abs.
Tensor random_away_from_zero(const Shape& shape, std::uint64_t seed = 1, double gap = 0.1);
// gap + |normal|: clear of the singularities of log, sqrt and division.
Tensor random_positive(const Shape& shape, std::uint64_t seed = 1, double gap = 0.3);

Tensor tensor_of(const FixtureTensor& fixture);

// ||got - expected|| / ||expected||, infinite when the shapes differ or got holds a NaN. Where
// nothing is expected (norm 0, no elements), 0 if got is zero, too.
double relative_error(const Tensor& got, const Tensor& expected);

// A value, and the gradients of <value, cotangent> with respect to the inputs.
struct Evaluation {
  Tensor value;
  std::vector<Tensor> gradients;
};
Evaluation evaluate(const Function& f, const std::vector<Tensor>& inputs, const Tensor& cotangent);
// With a random cotangent, the same for equal shapes of the value.
Evaluation evaluate(const Function& f, const std::vector<Tensor>& inputs);

// Value and every gradient equal PyTorch's output "y" and its input_grads, in the order of which f
// gets the differentiable inputs. 1e-12 leaves room for another order of a sum of some dozen terms
// and for other libm's, and is far below any error of a formula.
void check_fixture(const FixtureCase& fixture, const Function& f, double tolerance = 1e-12);

// Two ways to compute the same function agree in value and in every gradient.
void check_same(const Function& f, const Function& expected, const std::vector<Tensor>& inputs,
                double tolerance = 1e-12);

// The gradients agree with central differences; a graph that uses the op twice doubles them; and
// each stays what it is when the other inputs are constants.
void check_backward(const Function& f, const std::vector<Tensor>& inputs,
                    const GradcheckOptions& options = {});

// f of inputs without elements gives a result of the shape; its gradients have the inputs' shapes
// and are zero.
void check_empty(const Function& f, const std::vector<Tensor>& inputs, const Shape& shape);

// The call throws std::invalid_argument with a message that starts so: "[op] argument: ...".
void check_refused(const std::function<void()>& call, std::string_view message_start);

}  // namespace normlab
