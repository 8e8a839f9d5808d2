// How large is the gradient of every norm's weight in an untrained transformer, layer by layer?
#include <fmt/format.h>

#include "core/check.hpp"
#include "experiments/lab/program/option_checks.hpp"
#include "experiments/lab/program/program.hpp"
#include "experiments/untrained/encoder_model.hpp"

namespace normlab::norm_weight_gradients {

struct Options {
  std::vector<Placement> placements{Placement::post, Placement::pre};
  std::vector<std::uint64_t> seeds{0, 1, 2};
  std::int64_t layers = 6, images = 16;
};

void check(const Options& options) {
  check_placements("norm_weight_gradients", options.placements);
  check_seeds("norm_weight_gradients", options.seeds);
}

// One network, and the norm of dLoss/dweight of both norms of each layer.
struct Point {
  Placement placement;
  std::uint64_t seed;
  std::vector<double> norm1{}, norm2{};
};

void measure_point(const Tokens& tokens, std::int64_t layers, Point& point) {
  EncoderModel model({}, layers, point.placement, point.seed);
  Tape tape;
  const Var loss = model.loss_sum(tape, tokens, 1.0, 0, tokens.images());
  tape.backward(loss, Tensor::scalar(1.0 / static_cast<double>(tokens.count())));
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::string block = fmt::format("layers.{}.", layer);
    TransformerEncoder& encoder = model.encoder();
    point.norm1.push_back(norm(encoder.parameter(block + "norm1.weight").grad));
    point.norm2.push_back(norm(encoder.parameter(block + "norm2.weight").grad));
  }
}

std::vector<Point> measure(const Options& options, const lab::Run& run) {
  const Tokens tokens = tokens_of(load_digits().range(0, options.images));
  std::vector<Point> points;
  for (Placement placement : options.placements) {
    for (std::uint64_t seed : options.seeds) points.push_back({placement, seed});
  }
  std::vector<Job> jobs;
  for (Point& point : points) {
    jobs.push_back({1.0, [&] { measure_point(tokens, options.layers, point); }});
  }
  run_jobs(jobs, run.threads, run.progress);
  return points;
}

// Of one norm in one layer, over the seeds of a placement.
Spread over_seeds(const std::vector<Point>& points, Placement placement,
                  std::vector<double> Point::*gradients, std::size_t layer) {
  std::vector<double> values;
  for (const Point& point : points) {
    if (point.placement == placement) values.push_back((point.*gradients)[layer]);
  }
  return spread(values);
}

lab::Results results(const Options& options, const std::vector<Point>& points) {
  lab::Results results{.title = "Gradients of the norms' weights at initialization",
                       .heading = fmt::format("{} layers, {} images, {} seeds", options.layers,
                                              options.images, options.seeds.size())};
  Figure figure{.name = "norm_weight_gradients",
                .title = "Gradient of the second norm's weight",
                .x_label = "layer",
                .y_label = "||dLoss/dweight||",
                .series = {},
                .alt = "The norm of the gradient against the layer: a line for each placement.",
                .caption = "Median over seeds, band from the smallest to the largest."};
  for (Placement placement : options.placements) {
    lab::Table table{.key = "layers",
                     .title = title(placement),
                     .columns = {{"layer", "layer"},
                                 {"norm1", "norm1", ".3f", "||dLoss/dweight|| of the first norm"},
                                 {"norm2", "norm2", ".3f", "the same of the second"}},
                     .common = {{"placement", name(placement)}}};
    Series series{.name = title(placement), .kind = Series::Kind::band};
    for (std::int64_t layer = 0; layer < options.layers; ++layer) {
      const auto at = static_cast<std::size_t>(layer);
      const Spread norm2 = over_seeds(points, placement, &Point::norm2, at);
      table.rows.push_back({layer + 1, over_seeds(points, placement, &Point::norm1, at), norm2});
      series.add(static_cast<double>(layer + 1), norm2);
    }
    results.tables.push_back(table);
    figure.series.push_back(series);
  }
  results.figures.push_back(figure);
  return results;
}

int main(int argc, const char* const* argv) {
  Options options;
  lab::Program program({.name = "norm_weight_gradients",
                        .description = "Gradients of the norms' weights at initialization",
                        .exit_codes = "Exit code: 0; 2 for bad usage or bad input."},
                       argc, argv);
  lab::Options& o = program.options();
  o.add("--placement", options.placements, lab::OneOf{{"post", "pre", "res-post"}}, "placements");
  o.add("--seeds", options.seeds, lab::AnySeed{}, "seeds of the weights");
  o.add("--layers", options.layers, lab::Whole{1, 100}, "blocks");
  o.add("--images", options.images, lab::Whole{2, 1797}, "how many of the digits, from the first");
  return program.run([&] { check(options); },
                     [&](const lab::Run& run) { return results(options, measure(options, run)); });
}

}  // namespace normlab::norm_weight_gradients

int main(int argc, char** argv) { return normlab::norm_weight_gradients::main(argc, argv); }
