// The time that the matrix products of init_gradients take by themselves: the bound that the rest
// of the program is measured against (docs/performance.md).
//
// The same networks, slices and threads as the program, the same shapes as its layers (read off the
// model itself), the same number of products, each one call of BLAS; no norm, softmax, activation,
// bias, sum or random number. Buffers that a tape keeps are one per layer, those that the pool
// recycles are shared, so that caches see about what they see in the program. Where the program
// writes an operand by something else than a product, random numbers stand in for it.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "core/kernels/blas.hpp"
#include "experiments/init_gradients/init_gradients.hpp"

namespace normlab {

namespace {

using blas::Matrix;
using blas::Transpose;

// Counts multiplications and additions, over all threads.
class Products {
 public:
  void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Matrix a, Matrix b, double* c,
            std::int64_t c_stride) {
    blas::gemm(m, n, k, a, b, c, c_stride);
    flops_ += 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
  double flops() const { return flops_; }

 private:
  double flops_ = 0.0;
};

// Gradients live only until they are passed on; one buffer of each kind serves all layers.
struct Gradients {
  Tensor dy, dx, dweight;  // as large as the largest layer needs
};

struct LinearLayer {
  std::int64_t rows, in, out;
  Tensor x, weight, y;

  LinearLayer(std::int64_t token_rows, const Tensor& matrix, Generator& generator)
      : rows(token_rows),
        in(matrix.shape()[1]),
        out(matrix.shape()[0]),
        x(generator.randn({rows, in})),
        weight(matrix),
        y(Tensor::uninitialized({rows, out})) {}

  void forward(Products& products) {
    products.gemm(rows, out, in, {x.data(), in}, {weight.data(), in, Transpose::yes},
                  y.mutable_data(), out);
  }
  void backward(Products& products, Gradients& g, bool dx_wanted) const {
    if (dx_wanted) {
      products.gemm(rows, in, out, {g.dy.data(), out}, {weight.data(), in}, g.dx.mutable_data(),
                    in);
    }
    products.gemm(out, in, rows, {g.dy.data(), out, Transpose::yes}, {x.data(), in},
                  g.dweight.mutable_data(), in);
  }
};

// softmax(Q K^T) V for all heads of all sequences, without the softmax.
struct AttentionLayer {
  std::int64_t sequences, tokens, heads, width;  // width of one head
  Tensor scores, weights;

  AttentionLayer(std::int64_t n, std::int64_t t, const EncoderModel::Config& config,
                 Generator& generator)
      : sequences(n),
        tokens(t),
        heads(config.nhead),
        width(config.d_model / config.nhead),
        scores(Tensor::uninitialized({tokens, tokens})),
        weights(generator.rand({sequences, heads, tokens, tokens})) {}

  std::int64_t all() const { return heads * width; }

  // f(offset of the head's q in qkv, offset in the output, offset in the weights)
  template <typename F>
  void for_each_head(F f) const {
    for (std::int64_t n = 0; n < sequences; ++n) {
      for (std::int64_t h = 0; h < heads; ++h) {
        f(n * tokens * 3 * all() + h * width, n * tokens * all() + h * width,
          (n * heads + h) * tokens * tokens);
      }
    }
  }
  void forward(Products& products, const Tensor& qkv, Tensor& out) {
    double* s = scores.mutable_data();
    double* o = out.mutable_data();
    for_each_head([&](std::int64_t q, std::int64_t at, std::int64_t p) {
      const double* head = qkv.data() + q;
      products.gemm(tokens, tokens, width, {head, 3 * all()},
                    {head + all(), 3 * all(), Transpose::yes}, s, tokens);
      products.gemm(tokens, width, tokens, {weights.data() + p, tokens},
                    {head + 2 * all(), 3 * all()}, o + at, all());
    });
  }
  void backward(Products& products, const Tensor& qkv, Gradients& g) {
    double* ds = scores.mutable_data();
    double* dqkv = g.dx.mutable_data();
    for_each_head([&](std::int64_t q, std::int64_t at, std::int64_t p) {
      const double* head = qkv.data() + q;
      const Matrix dout{g.dy.data() + at, all()};
      const Matrix prob_t{weights.data() + p, tokens, Transpose::yes};
      products.gemm(tokens, width, tokens, prob_t, dout, dqkv + q + 2 * all(), 3 * all());
      products.gemm(tokens, tokens, width, dout, {head + 2 * all(), 3 * all(), Transpose::yes}, ds,
                    tokens);
      products.gemm(tokens, width, tokens, {ds, tokens}, {head + all(), 3 * all()}, dqkv + q,
                    3 * all());
      products.gemm(tokens, width, tokens, {ds, tokens, Transpose::yes}, {head, 3 * all()},
                    dqkv + q + all(), 3 * all());
    });
  }
};

struct Block {
  LinearLayer in_proj;
  AttentionLayer attention;
  LinearLayer out_proj, linear1, linear2;
};

// The products of one slice of images.
class SliceProducts {
 public:
  SliceProducts(EncoderModel& model, const EncoderModel::Config& config, Placement placement,
                std::int64_t images, std::int64_t tokens_per_image, std::int64_t patch_pixels)
      : input_needs_grad_(placement == Placement::pre),  // there a norm with parameters precedes
        embedding_(images * tokens_per_image, generator_.randn({config.d_model, patch_pixels}),
                   generator_),
        head_(images * tokens_per_image, model.parameter("head.weight").value, generator_) {
    const std::int64_t rows = images * tokens_per_image;
    for (const TransformerEncoderLayer* layer : model.encoder().layers) {
      blocks_.push_back({{rows, layer->self_attn.in_proj_weight.value, generator_},
                         {images, tokens_per_image, config, generator_},
                         {rows, layer->self_attn.out_proj.weight.value, generator_},
                         {rows, layer->linear1.weight.value, generator_},
                         {rows, layer->linear2.weight.value, generator_}});
    }
    const std::int64_t widest =
        std::max({3 * config.d_model, config.dim_feedforward, kDigitClasses});
    gradients_ = {generator_.randn({rows, widest}), Tensor::uninitialized({rows, widest}),
                  Tensor::uninitialized({widest, widest})};
  }

  // Through the deepest stack, and through the classifier after each of the depths.
  void forward(Products& products, const std::vector<std::int64_t>& depths) {
    embedding_.forward(products);
    for (Block& block : blocks_) {
      block.in_proj.forward(products);
      block.attention.forward(products, block.in_proj.y, block.out_proj.x);
      block.out_proj.forward(products);
      block.linear1.forward(products);
      block.linear2.forward(products);
    }
    for (std::size_t i = 0; i < depths.size(); ++i) head_.forward(products);
  }

  void backward(Products& products, std::int64_t depth) {
    head_.backward(products, gradients_, true);
    for (std::size_t i = static_cast<std::size_t>(depth); i-- > 0;) {
      Block& block = blocks_[i];
      block.linear2.backward(products, gradients_, true);
      block.linear1.backward(products, gradients_, true);
      block.out_proj.backward(products, gradients_, true);
      block.attention.backward(products, block.in_proj.y, gradients_);
      block.in_proj.backward(products, gradients_, i > 0 || input_needs_grad_);
    }
  }

 private:
  Generator generator_{1};
  bool input_needs_grad_;
  LinearLayer embedding_, head_;
  std::vector<Block> blocks_;
  Gradients gradients_;
};

// The products of stacks that share their beginnings, all slices: one pass forward through the
// deepest, one backward from each depth; then `values` more passes forward.
double stack_products(const init_gradients::Options& options, const Tokens& tokens,
                      const std::vector<std::int64_t>& depths, Placement placement, int values) {
  EncoderModel model(options.model, *std::max_element(depths.begin(), depths.end()), placement, 0);
  Products products;
  for (int pass = 0; pass < 1 + values; ++pass) {
    std::unique_ptr<SliceProducts> slice;
    std::int64_t slice_images = 0;
    for_each_slice(options.model, tokens.images(), [&](std::int64_t first, std::int64_t last) {
      if (last - first != slice_images) {
        slice_images = last - first;
        slice =
            std::make_unique<SliceProducts>(model, options.model, placement, slice_images,
                                            tokens.patches.shape()[1], tokens.patches.shape()[2]);
      }
      slice->forward(products, depths);
      if (pass > 0) return;
      for (std::int64_t depth : depths) slice->backward(products, depth);
    });
  }
  return products.flops();
}

// The jobs of init_gradients::measure, C2 left out (a single product of the embedding).
double run_bound(const init_gradients::Options& options, int threads) {
  const Tokens tokens = tokens_of(load_digits().range(0, options.images));
  std::atomic<double> flops = 0.0;
  std::vector<Job> jobs;
  const auto add = [&](const std::vector<std::int64_t>& depths, Placement placement, int values) {
    const double layers = static_cast<double>(std::accumulate(depths.begin(), depths.end(), 0LL));
    jobs.push_back({layers * (1.0 + values / 3.0), [=, &options, &tokens, &flops] {
                      flops += stack_products(options, tokens, depths, placement, values);
                    }});
  };
  const std::vector<init_gradients::Point> points = init_gradients::points(options);
  for (const std::vector<std::size_t>& group : init_gradients::groups(points)) {
    std::vector<std::int64_t> depths;
    for (std::size_t place : group) depths.push_back(points[place].configuration.layers);
    add(depths, points[group.front()].configuration.placement, 0);
  }
  constexpr int kDifferenceLosses = 4;  // two entries, above and below
  for (Placement placement : options.placements) {
    add({options.checked_layers()}, placement, kDifferenceLosses);
  }
  run_jobs(jobs, threads);
  return flops;
}

int bound_main(int argc, const char* const* argv) {
  init_gradients::Options options;
  int threads = 1;
  CLI::App app("The matrix products of init_gradients alone: a bound on its speed", "dgemm_bound");
  app.add_option("--seeds", options.seeds, "as init_gradients")->capture_default_str();
  app.add_option("--layers", options.layers, "as init_gradients")->capture_default_str();
  app.add_option("--width", options.model.d_model, "as init_gradients")->capture_default_str();
  app.add_option("--heads", options.model.nhead, "as init_gradients")->capture_default_str();
  app.add_option("--ffn", options.model.dim_feedforward, "as init_gradients")
      ->capture_default_str();
  app.add_option("--images", options.images, "as init_gradients")->capture_default_str();
  app.add_option("--threads", threads, "as init_gradients")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  options.scales.back().value = 1.0 / std::sqrt(static_cast<double>(options.model.d_model));
  // The table over layers then shows a network that the depth table has too, as by default.
  options.profile_layers = options.layers.front();
  init_gradients::check(options);
  const auto start = std::chrono::steady_clock::now();
  const double flops = run_bound(options, threads);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  fmt::print("dgemm_bound: {:.3f} s, {:.1f} GFLOP, {:.2f} GFLOP/s, threads {}\n", seconds.count(),
             flops * 1e-9, flops * 1e-9 / seconds.count(), threads);
  return 0;
}

}  // namespace

}  // namespace normlab

int main(int argc, char** argv) {
  try {
    return normlab::bound_main(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "dgemm_bound: {}\n", error.what());
    return 2;
  }
}
