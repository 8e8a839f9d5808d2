#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/parameter.hpp"
#include "core/tensor.hpp"

// Reverse-mode automatic differentiation on an explicit tape (docs/tape.md).
//
// An op computes its value and appends a node to the tape: its name, the nodes it read, and a
// closure that turns the gradient of its result into gradients of its inputs. A node can only have
// read earlier nodes, so the order of recording is a topological order, and the whole reverse pass
// is one loop from the last node to the first.
namespace normlab {

class Tape;

// A value together with its place on a tape. Cheap to copy: the tensor's buffer is shared.
// A Var without a place (a constant, or the result of an op under NoGrad) takes part in ops like
// any other; no gradient flows to it.
class Var {
 public:
  // Both throw std::logic_error for a Var that was moved from.
  const Tensor& value() const {
    if (!value_.defined()) refuse_moved_from();
    return value_;
  }
  const Shape& shape() const { return value().shape(); }
  bool needs_grad() const { return node_ != kNoNode; }

  // The tape it was made on. Throws std::logic_error if that tape was cleared or destroyed since.
  Tape& tape() const;
  // The position on the tape, as `dump` prints it. Throws std::logic_error for a constant.
  std::size_t node() const;

  // The gradient kept for this Var: the sum over all backward passes for a leaf or a Var given to
  // `retain_grad`. Undefined if none arrived. Throws std::logic_error for any other Var.
  const Tensor& grad() const;
  // Keep the gradient of this intermediate value in the passes to come. Returns itself.
  const Var& retain_grad() const;

 private:
  friend class Tape;
  friend class Adjoint;
  friend struct TapeChecks;
  static constexpr std::size_t kNoNode = static_cast<std::size_t>(-1);

  Var(Tensor value, Tape& tape, std::size_t node, std::weak_ptr<const char> alive)
      : value_(std::move(value)), tape_(&tape), node_(node), alive_(std::move(alive)) {}
  [[noreturn]] static void refuse_moved_from();

  Tensor value_;
  Tape* tape_;
  std::size_t node_;
  std::weak_ptr<const char> alive_;  // expires when the tape is cleared or destroyed
};

// Where the gradient of one input is added up during a reverse pass. A backward closure keeps one
// for each input, besides the values it needs. There is `+=` and no `=`: a Var that was used twice
// gets both contributions.
class Adjoint {
 public:
  explicit Adjoint(const Var& var);
  // Of an optional input, such as a bias; false if the input is absent.
  explicit Adjoint(const std::optional<Var>& var);
  // False for a constant: nobody will read the gradient, so it need not be computed.
  explicit operator bool() const { return node_ != Var::kNoNode; }
  // Does nothing for a constant. Throws std::invalid_argument unless the contribution has the shape
  // of the value, and std::logic_error outside a reverse pass of its tape (or after that tape's
  // clear() or destruction).
  void operator+=(Tensor contribution) const;

 private:
  Tape* tape_ = nullptr;
  std::size_t node_ = Var::kNoNode;
  std::weak_ptr<const char> alive_;  // as a Var's
};

// Neither copied nor moved, since Vars point to it. One thread at a time.
class Tape {
 public:
  // Given dLoss/d(result), adds to the adjoints of the inputs.
  using Backward = std::function<void(const Tensor& dy)>;

  Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // Leaves. A watched parameter's gradient goes to `parameter.grad`; watching it again returns the
  // same node, so tied weights get the sum. The parameter must outlive the tape's passes.
  Var watch(Parameter& parameter);
  Var variable(Tensor value);  // gradient readable through Var::grad
  Var constant(Tensor value);  // no gradient

  // Appends an op. If no input needs a gradient, or under NoGrad, nothing is recorded, `backward`
  // is dropped with all that it keeps alive, and the result is a constant.
  Var record(std::string_view op, Tensor value, const std::vector<Var>& inputs, Backward backward);

  // Adds d(root)/d(leaf) to every leaf's gradient. `root` must hold one value; with a seed v of its
  // shape any root will do, and v^T J is added (the vector-Jacobian product). The record stays, so
  // that further passes, from the same root or another, add to the same gradients. A pass that
  // throws adds nothing. A backward closure must not record on the tape or clear it.
  void backward(const Var& root);
  void backward(const Var& root, const Tensor& seed);

  // v^T d(root)/dx for a seed v of root's shape, in the shape of x; zeros if root does not depend
  // on x. Leaves all gradients as they are.
  Tensor vector_jacobian_product(const Var& root, const Tensor& seed, const Var& x);

  // Forgets everything recorded. Vars made before are refused from then on.
  void clear();
  std::size_t size() const { return nodes_.size(); }

  // By default the gradient of an intermediate value is released as soon as it has been passed on,
  // which halves the peak memory; this keeps all of them, readable through Var::grad.
  void retain_all_grads(bool on) { retain_all_grads_ = on; }
  // Look at the value of every op and at every gradient, and throw std::runtime_error at the first
  // one that is not finite, naming the op, its index, shapes and inputs. Slow; for finding the
  // origin of a NaN.
  void detect_anomaly(bool on) { detect_anomaly_ = on; }

  // The recorded graph, as a table and for Graphviz.
  void dump(std::ostream& out) const;
  void dump_dot(std::ostream& out) const;

  // While at least one lives, ops on the tape compute values and record nothing, and `watch` brings
  // in constants. Several may end in any order.
  class NoGrad {
   public:
    explicit NoGrad(Tape& tape) : tape_(tape) { ++tape_.no_grads_; }
    ~NoGrad() { --tape_.no_grads_; }
    NoGrad(const NoGrad&) = delete;
    NoGrad& operator=(const NoGrad&) = delete;

   private:
    Tape& tape_;
  };

 private:
  friend class Var;
  friend class Adjoint;
  friend struct TapeChecks;

  struct Node {
    std::string op;
    std::string label;  // a parameter's name
    Shape shape;
    std::vector<std::size_t> inputs;  // Var::kNoNode for a constant
    Backward backward;                // none for a leaf
    Parameter* parameter = nullptr;
    bool retain_grad = false;
    Tensor adjoint{};  // d(root)/d(this), of the pass under way
    Tensor grad{};     // the sum over all passes, if is_retained
  };

  class Pass;
  Var append(Node node, Tensor value);
  void propagate(std::size_t root, const Tensor& seed, std::size_t stop);
  bool is_retained(const Node& node) const;

  std::vector<Node> nodes_;
  std::unordered_map<const Parameter*, std::size_t> watched_;
  std::shared_ptr<const char> alive_;
  int no_grads_ = 0;  // NoGrad guards that live
  bool retain_all_grads_ = false;
  bool detect_anomaly_ = false;
  bool in_reverse_pass_ = false;
};

// The tape that the inputs of an op share. Throws std::logic_error naming `op` if they are from two
// tapes, or if one outlived its tape's clear().
Tape& common_tape(std::string_view op, const std::vector<Var>& inputs);

// Appends an op to the tape of its inputs: what every differentiable op ends with.
Var record(std::string_view op, Tensor value, const std::vector<Var>& inputs,
           Tape::Backward backward);

}  // namespace normlab
