// A norm as a module: shapes, parameters, train and eval mode.
// Tested by tests/nn/conformance/conformance_test.cpp.
#include <set>

#include <fmt/format.h>

#include "nn/conformance/conformance_checks.hpp"

namespace normlab::conformance {

namespace {

void check_shapes(const NormEntry& entry, Report& report) {
  for (const Shape& shape : {Shape{2, 3, 1}, Shape{1, 5, 3}, Shape{4, 2, 6}, Shape{2, 3, 33}}) {
    report.guarded("shape", shape.str(), [&] {
      const Shape got =
          evaluate(*make_layer(entry.make, shape.width()), well_scaled_input(shape)).shape();
      report.add("shape", shape.str(), got == shape, "output " + got.str());
    });
  }
}

// An empty batch gives an empty result and zero gradients.
void check_empty_batch(const NormEntry& entry, Report& report) {
  const Shape shape{0, 5, 8};
  report.guarded("empty batch", shape.str(), [&] {
    const Pass pass = run_pass(*make_layer(entry.make, 8), Tensor::zeros(shape));
    bool zero = true;
    for (const auto& [name, gradient] : pass.parameter_gradients) {
      zero = zero && (!gradient.defined() || norm(gradient) == 0.0);
    }
    report.add("empty batch", shape.str(), pass.value.shape() == shape && zero,
               fmt::format("output {}, parameter gradients {}", pass.value.shape().str(),
                           zero ? "zero" : "not zero"));
  });
}

// Parameters are saved and found by name, so names must be unique; and two layers from one factory
// must have the same parameters.
void check_parameters(const NormEntry& entry, const std::string& where, Report& report) {
  const auto layer = make_layer(entry.make, 8), twin = make_layer(entry.make, 8);
  const auto named = layer->named_parameters(), others = twin->named_parameters();
  std::set<std::string> names;
  std::string list;
  std::int64_t numbers = 0;
  bool all_hold_numbers = true, same = named.size() == others.size();
  for (std::size_t i = 0; i < named.size(); ++i) {
    const auto& [name, parameter] = named[i];
    names.insert(name);
    numbers += parameter->value.numel();
    all_hold_numbers = all_hold_numbers && parameter->value.numel() > 0;
    list += fmt::format("{}{} {}", i == 0 ? "" : ", ", name, parameter->value.shape().str());
    same = same && others[i].first == name &&
           distance(others[i].second->value, parameter->value) == 0.0;
  }
  report.add("parameter names", where, names.size() == named.size() && !names.contains(""),
             named.empty() ? "no parameters" : list);
  report.add("parameter count", where, all_hold_numbers && same,
             fmt::format("{} numbers in {} parameters{}{}", numbers, named.size(),
                         all_hold_numbers ? "" : ", an empty one among them",
                         same ? "" : ", others in a second layer of the same width"));
}

void check_every_parameter_is_used(const NormEntry& entry, const Shape& shape, Report& report) {
  const auto layer = with_random_parameters(entry.make, shape.width());
  const Pass pass = run_pass(*layer, well_scaled_input(shape));
  for (const auto& [name, gradient] : pass.parameter_gradients) {
    const bool frozen = !layer->parameter(name).requires_grad;
    const double size = gradient.defined() ? norm(gradient) : 0.0;
    report.add("a gradient reaches " + name, shape.str(), frozen || size > 0.0,
               frozen ? "asks for none" : fmt::format("size {:.2e}", size));
  }
}

void add_same(const std::string& property, const std::string& where, const Tensor& a,
              const Tensor& b, Report& report) {
  const double difference = distance(a, b);
  report.add(property, where, difference == 0.0,
             fmt::format("relative difference {:.2e}, must be 0", difference));
}

void check_both_modes(const NormEntry& entry, const Shape& shape, Report& report) {
  const auto layer = with_random_parameters(entry.make, shape.width());
  const Tensor x = well_scaled_input(shape);
  const std::string where = shape.str();
  const Tensor train = evaluate(*layer, x);
  add_same("second forward in train mode", where, evaluate(*layer, x), train, report);
  layer->eval();
  const Tensor eval = evaluate(*layer, x);
  add_same("second forward in evaluation mode", where, evaluate(*layer, x), eval, report);
  if (!entry.properties.running_statistics) {
    add_same("train against evaluation", where, eval, train, report);
    return;
  }
  const double difference = distance(eval, train);
  report.add("train against evaluation", where, difference > 1e-3,
             fmt::format("running statistics declared; relative difference {:.2e}, should be above "
                         "1e-03 for a young layer",
                         difference));
  layer->train();
  evaluate(*layer, well_scaled_input(shape, 2, 3.0));
  layer->eval();
  const double moved = distance(evaluate(*layer, x), eval);
  report.add("running statistics", where, moved > 1e-3,
             fmt::format("a batch in train mode moves the evaluation by {:.2e}, should be above "
                         "1e-03",
                         moved));
}

}  // namespace

void check_module(const NormEntry& entry, Report& report) {
  check_shapes(entry, report);
  check_empty_batch(entry, report);
  report.guarded("parameters", "width 8", [&] { check_parameters(entry, "width 8", report); });
  const Shape shape{2, 4, 8};
  report.guarded("a gradient reaches every parameter", shape.str(),
                 [&] { check_every_parameter_is_used(entry, shape, report); });
}

void check_modes(const NormEntry& entry, Report& report) {
  const Shape shape{3, 4, 6};
  report.guarded("train and eval mode", shape.str(),
                 [&] { check_both_modes(entry, shape, report); });
}

}  // namespace normlab::conformance
