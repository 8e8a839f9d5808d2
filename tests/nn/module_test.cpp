#include "nn/module.hpp"

#include <memory>
#include <stdexcept>
#include <type_traits>

#include <doctest/doctest.h>

#include "core/ops/arithmetic.hpp"
#include "tests/support/module_checks.hpp"

using namespace normlab;

namespace {

static_assert(!std::is_copy_constructible_v<Module> && !std::is_move_constructible_v<Module>);

class Gain : public Layer {
 public:
  Gain() : gain(register_parameter("gain", Tensor::ones({2}))) {}
  Var forward(const Var& x) override {
    observe("input", x);
    return x * x.tape().watch(gain);
  }

  Parameter& gain;
};

// Registers its children before its own parameters, which must come first nevertheless.
class Tree : public Layer {
 public:
  Tree()
      : first(register_module("first", std::make_unique<Gain>())),
        second(register_module("blocks.0", std::make_unique<Gain>())),
        b(register_parameter("b", Tensor::zeros({2}))),
        a(register_parameter("a", Tensor::zeros({2}))) {}
  Var forward(const Var& x) override {
    const Var y = second.forward(first.forward(x)) + x.tape().watch(b) + x.tape().watch(a);
    observe("output", y);
    return y;
  }

  Gain &first, &second;
  Parameter &b, &a;
};

class Forest : public Layer {
 public:
  Forest() : tree(register_module("tree", std::make_unique<Tree>())) {}
  Var forward(const Var& x) override { return tree.forward(x); }

  Tree& tree;
};

std::vector<std::string> parameter_names(Module& module) {
  std::vector<std::string> names;
  for (const auto& [name, parameter] : module.named_parameters()) names.push_back(name);
  return names;
}

}  // namespace

TEST_CASE("Module: parameters have dotted names, own before children's, in order of registration") {
  Forest forest;
  CHECK(parameter_names(forest.tree) ==
        std::vector<std::string>{"b", "a", "first.gain", "blocks.0.gain"});
  CHECK(parameter_names(forest) ==
        std::vector<std::string>{"tree.b", "tree.a", "tree.first.gain", "tree.blocks.0.gain"});
  const std::vector<Parameter*> expected{&forest.tree.b, &forest.tree.a, &forest.tree.first.gain,
                                         &forest.tree.second.gain};
  CHECK(forest.parameters() == expected);
}

TEST_CASE("Module: a parameter's own name, which a tape prints, is the outermost one") {
  Forest forest;
  for (const auto& [name, parameter] : forest.named_parameters()) CHECK(parameter->name == name);
}

TEST_CASE("Module: a parameter is found by name, an unknown name is refused with the known ones") {
  Tree tree;
  CHECK(&tree.parameter("first.gain") == &tree.first.gain);
  CHECK(&tree.parameter("a") == &tree.a);
  check_refused([&] { tree.parameter("gain"); },
                "[Module::parameter] name: must be one of: b, a, first.gain, blocks.0.gain, got "
                "gain");
}

TEST_CASE("Module: references to parameters stay valid while more are registered") {
  class Growing : public Module {
   public:
    Parameter& add(int i) { return register_parameter(std::to_string(i), Tensor::scalar(i)); }
  };
  Growing module;
  std::vector<Parameter*> references;
  for (int i = 0; i < 1000; ++i) references.push_back(&module.add(i));
  CHECK(references == module.parameters());
  CHECK(references.front()->value.item() == 0.0);
}

TEST_CASE("Module: gradients add up over passes until zero_grad") {
  Tree tree;
  const auto pass = [&] {
    Tape tape;
    tape.backward(tree.forward(tape.constant(Tensor::ones({2}))), Tensor::ones({2}));
  };
  pass();
  pass();
  for (Parameter* parameter : tree.parameters()) {
    CHECK(relative_error(parameter->grad, Tensor::full({2}, 2.0)) == 0.0);
  }
  tree.zero_grad();
  for (Parameter* parameter : tree.parameters()) CHECK_FALSE(parameter->grad.defined());
  pass();
  for (Parameter* parameter : tree.parameters()) {
    CHECK(relative_error(parameter->grad, Tensor::ones({2})) == 0.0);
  }
}

TEST_CASE("Module: train and eval reach every module below") {
  Forest forest;
  CHECK(forest.training());
  CHECK(forest.tree.second.training());
  forest.eval();
  CHECK_FALSE(forest.training());
  CHECK_FALSE(forest.tree.training());
  CHECK_FALSE(forest.tree.second.training());
  forest.tree.train();
  CHECK_FALSE(forest.training());
  CHECK(forest.tree.second.training());
}

TEST_CASE(
    "Module: a hook sees every observed value once, by its dotted name, until it is removed") {
  Forest forest;
  const Tensor x = random({2});
  const Tensor without = evaluate(forest, x);
  std::vector<std::string> seen;
  std::vector<Tensor> values;
  forest.register_hook([&](const std::string& name, const Var& value) {
    seen.push_back(name);
    values.push_back(value.value());
  });
  CHECK(max_abs_difference(evaluate(forest, x), without) == 0.0);
  CHECK(seen == std::vector<std::string>{"tree.first.input", "tree.blocks.0.input", "tree.output"});
  CHECK(max_abs_difference(values.front(), x) == 0.0);
  CHECK(max_abs_difference(values.back(), without) == 0.0);

  forest.remove_hook();
  evaluate(forest, x);
  CHECK(seen.size() == 3);
}

TEST_CASE("Module: a hook for some names sees those of every layer, and no others") {
  Forest forest;
  std::vector<std::string> seen;
  const auto hook = [&](const std::string& name, const Var&) { seen.push_back(name); };
  forest.register_hook(hook, {"input"});
  evaluate(forest, random({2}));
  CHECK(seen == std::vector<std::string>{"tree.first.input", "tree.blocks.0.input"});
  seen.clear();
  forest.register_hook(hook, {"output", "nothing"});
  evaluate(forest, random({2}));
  CHECK(seen == std::vector<std::string>{"tree.output"});
  seen.clear();
  forest.register_hook(hook);
  evaluate(forest, random({2}));
  CHECK(seen.size() == 3);
}

TEST_CASE("Module: a second hook replaces the first") {
  Forest forest;
  int first = 0, second = 0;
  forest.register_hook([&](const std::string&, const Var&) { ++first; });
  forest.register_hook([&](const std::string&, const Var&) { ++second; });
  evaluate(forest, random({2}));
  CHECK(first == 0);
  CHECK(second == 3);
}

TEST_CASE("Module: a hook can keep the gradients of what it sees") {
  Tree tree;
  randomize_parameters(tree);
  std::vector<Var> seen;
  tree.register_hook([&](const std::string& name, const Var& value) {
    if (name == "blocks.0.input") seen.push_back(value.retain_grad());
  });
  Tape tape;
  tape.backward(tree.forward(tape.variable(random({2}))), Tensor::ones({2}));
  REQUIRE(seen.size() == 1);
  CHECK(relative_error(seen[0].grad(), tree.second.gain.value) <= 1e-15);
}

TEST_CASE("module: hyperparameters, buffers and generators have dotted names, parents first") {
  class Leaf : public Module {
   public:
    explicit Leaf(double eps) {
      register_hyperparameter("eps", eps);
      register_buffer("mean", mean);
      register_generator("generator", generator);
    }
    Tensor mean = Tensor::zeros({2});
    Generator generator;
  };
  class Stack : public Module {
   public:
    Stack() : first(register_module("a.0", std::make_unique<Leaf>(0.5))) {
      register_module("b", std::make_unique<Leaf>(0.25));
      register_hyperparameter("depth", std::int64_t{2});
      register_hyperparameter("kind", "stack");
      register_hyperparameter("even", true);
    }
    Leaf& first;
  } stack;
  using Hyperparameters = std::vector<std::pair<std::string, Hyperparameter>>;
  CHECK(stack.named_hyperparameters() == Hyperparameters{{"depth", std::int64_t{2}},
                                                         {"kind", std::string("stack")},
                                                         {"even", true},
                                                         {"a.0.eps", 0.5},
                                                         {"b.eps", 0.25}});
  REQUIRE(stack.named_buffers().size() == 2);
  CHECK(stack.named_buffers()[0].first == "a.0.mean");
  CHECK(stack.named_buffers()[0].second == &stack.first.mean);
  REQUIRE(stack.named_generators().size() == 2);
  CHECK(stack.named_generators()[1].first == "b.generator");
  CHECK(stack.named_generators()[0].second == &stack.first.generator);
}

TEST_CASE("Module: decayed parameters and aliases are listed with those of every module below") {
  class Tied : public Module {
   public:
    Tied()
        : matrix(register_parameter("matrix", Tensor::ones({2, 2}), WeightDecay::on)),
          gain(register_parameter("gain", Tensor::ones({2, 2}))) {
      register_alias("head", matrix);
    }
    Parameter &matrix, &gain;
  };
  class Pair : public Module {
   public:
    Pair()
        : first(register_module("first", std::make_unique<Tied>())),
          second(register_module("second", std::make_unique<Tied>())) {}
    Tied &first, &second;
  } pair;
  CHECK(pair.decayed_parameters() ==
        std::vector<Parameter*>{&pair.first.matrix, &pair.second.matrix});
  const std::vector<std::pair<std::string, Parameter*>> expected{
      {"first.head", &pair.first.matrix}, {"second.head", &pair.second.matrix}};
  CHECK(pair.named_aliases() == expected);
}
