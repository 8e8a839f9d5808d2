# Wrong rules, most of them backward, that the tests must notice, each a mistake that is easily made.
# mutant(<what is wrong> <file> <source> <test> <text> <replacement>), see run.cmake.

mutant("Adjoint overwrites instead of adding"
  core/tape.cpp core/tape.cpp ops/arithmetic
  [==[node.adjoint += contribution;]==]
  [==[node.adjoint = contribution;]==])

mutant("sum_to keeps the last row instead of the sum"
  core/ops/broadcast.cpp core/ops/broadcast.cpp ops/broadcast
  [==[out[at + j * step] += in[j];]==]
  [==[out[at + j * step] = in[j];]==])

mutant("add does not sum over the broadcast axes"
  core/ops/arithmetic.cpp core/ops/arithmetic.cpp ops/arithmetic
  [==[db += sum_to(dy, shape_b);]==]
  [==[db += dy;]==])

mutant("sub adds the gradient of its second operand"
  core/ops/arithmetic.cpp core/ops/arithmetic.cpp ops/arithmetic
  [==[sum_to(map(dy, std::negate<>{}), shape_b)]==]
  [==[sum_to(dy, shape_b)]==])

mutant("div forgets the minus of its second operand"
  core/ops/arithmetic.cpp core/ops/arithmetic.cpp ops/arithmetic
  [==[return -g * q;]==]
  [==[return g * q;]==])

mutant("pow does not lower the exponent"
  core/ops/elementwise.cpp core/ops/elementwise.cpp ops/elementwise
  [==[std::pow(v, exponent - 1.0)]==]
  [==[std::pow(v, exponent)]==])

mutant("tanh takes 1 - y for 1 - y^2"
  core/ops/activation.cpp core/ops/activation.cpp ops/activation
  [==[g * (1.0 - t * t)]==]
  [==[g * (1.0 - t)]==])

mutant("relu lets every gradient through"
  core/ops/activation.cpp core/ops/activation.cpp ops/activation
  [==[out == 0.0 ? 0.0 : g]==]
  [==[g]==])

mutant("gelu leaves out the slope of Phi"
  core/ops/activation.cpp core/ops/activation.cpp ops/activation
  [==[to_slope[i] = cdf + v * density;]==]
  [==[to_slope[i] = cdf;]==])

mutant("mean does not divide the gradient by the count"
  core/ops/reduce.cpp core/ops/reduce.cpp ops/reduce
  [==[dx += repeat(dy, to.kept, shape, factor);]==]
  [==[dx += repeat(dy, to.kept, shape, 1.0);]==])

mutant("max gives every tied element the whole gradient"
  core/ops/reduce.cpp core/ops/reduce.cpp ops/reduce
  [==[zip(dy.reshaped(to.kept), sum_to(is_max, to.kept), std::divides<>{})]==]
  [==[dy.reshaped(to.kept)]==])

mutant("matmul's dA multiplies by B instead of its transpose"
  core/ops/matmul.cpp core/ops/matmul.cpp ops/matmul
  [==[b_t{x_b, flipped(b_is)}]==]
  [==[b_t{x_b, b_is}]==])

mutant("linear's dx multiplies by W read as its transpose"
  core/ops/linear.cpp core/ops/linear.cpp ops/linear
  [==[{dy.data(), out}, {w.data(), in}, g]==]
  [==[{dy.data(), out}, {w.data(), out, blas::Transpose::yes}, g]==])

mutant("slice puts its gradient at the start"
  core/ops/shape_ops.cpp core/ops/shape_ops.cpp ops/shape_ops
  [==[place(dy, at, first, g);]==]
  [==[place(dy, at, 0, g);]==])

mutant("index_select overwrites the gradient of a repeated row"
  core/ops/shape_ops.cpp core/ops/shape_ops.cpp ops/shape_ops
  [==[to[row * width + j] += from[j];]==]
  [==[to[row * width + j] = from[j];]==])

mutant("softmax's dx without the mean"
  core/kernels/row_kernels.hpp core/ops/softmax.cpp ops/softmax
  [==[dx[i] = y[i] * (dy[i] - y_dot_dy);]==]
  [==[dx[i] = y[i] * dy[i];]==])

mutant("log_softmax's dx without e^y"
  core/ops/softmax.cpp core/ops/softmax.cpp ops/softmax
  [==[std::exp(y[i]) * total]==]
  [==[total / static_cast<double>(n)]==])

mutant("cross_entropy takes the target distribution's sum for 1"
  core/ops/cross_entropy.cpp core/ops/cross_entropy.cpp ops/cross_entropy
  [==[p.data()[at] * q_sum]==]
  [==[p.data()[at]]==])

mutant("layer_norm's dx without - <g>"
  core/ops/layer_norm.cpp core/ops/layer_norm.cpp ops/layer_norm
  [==[(dx[i] - mean_g - xhat(i) * mean_g_xhat)]==]
  [==[(dx[i] - xhat(i) * mean_g_xhat)]==])

mutant("layer_norm's dx with <g> subtracted twice"
  core/ops/layer_norm.cpp core/ops/layer_norm.cpp ops/layer_norm
  [==[(dx[i] - mean_g - xhat(i) * mean_g_xhat)]==]
  [==[(dx[i] - 2.0 * mean_g - xhat(i) * mean_g_xhat)]==])

mutant("layer_norm's dx without - xhat <g xhat>"
  core/ops/layer_norm.cpp core/ops/layer_norm.cpp ops/layer_norm
  [==[(dx[i] - mean_g - xhat(i) * mean_g_xhat)]==]
  [==[(dx[i] - mean_g)]==])

mutant("layer_norm's dweight without xhat"
  core/ops/layer_norm.cpp core/ops/layer_norm.cpp ops/layer_norm
  [==[return dy[i] * (deviation(x[i]) * rstd);]==]
  [==[return dy[i];]==])

mutant("rms_norm's dx without - xhat <g xhat>"
  core/ops/rms_norm.cpp core/ops/rms_norm.cpp ops/rms_norm
  [==[(dx[i] - xhat(x[i]) * mean_g_xhat)]==]
  [==[dx[i]]==])

mutant("attention's dQ without the scale"
  core/kernels/attention_head.cpp core/kernels/attention_head.cpp ops/attention
  [==[multiply(in.scale, ds_value, in.k, dq);]==]
  [==[multiply(1.0, ds_value, in.k, dq);]==])

mutant("attention's backward does not drop what the forward dropped"
  core/kernels/attention_head.cpp core/kernels/attention_head.cpp ops/attention
  [==[if (in.keep != nullptr) multiply_elements(in.keep, ds);]==]
  [==[]==])

mutant("dropout passes every gradient on"
  core/ops/dropout.cpp core/ops/dropout.cpp ops/dropout
  [==[{ dx += zip(dy, mask, std::multiplies<>{}); }]==]
  [==[{ dx += dy; }]==])

mutant("the decoder's cross-attention reads the stream before its norm, in pre-norm"
  nn/transformer/transformer_decoder_layer.cpp nn/transformer/transformer_decoder_layer.cpp transformer/transformer_decoder_layer
  [==[cross(n2(z))]==]
  [==[cross(z)]==])

mutant("the decoder's cross-attention takes the masks of the self-attention"
  nn/transformer/transformer_decoder_layer.cpp nn/transformer/transformer_decoder_layer.cpp transformer/transformer_decoder_layer
  [==[cross_attention_.cross(v, memory, memory_masks, observer)]==]
  [==[cross_attention_.cross(v, memory, masks, observer)]==])

mutant("the source's padding is hidden from the encoder only"
  nn/models/translation_transformer.cpp nn/models/translation_transformer.cpp models/translation_transformer
  [==[{.key_padding_mask = memory.padding})]==]
  [==[{})]==])

mutant("Adam without weight decay multiplies the weight by zero"
  nn/optim/update_rules.cpp nn/optim/update_rules.cpp optim/optimizer
  [==[return decay == 0.0 ? g : g + decay * w;]==]
  [==[return g + decay * w;]==])

mutant("the maximum of amsgrad drops a NaN"
  nn/optim/update_rules.cpp nn/optim/update_rules.cpp optim/optimizer
  [==[return a >= b || std::isnan(a) ? a : b;]==]
  [==[return a < b ? b : a;]==])

mutant("a step takes a gradient of NaN"
  nn/optim/optimizer.cpp nn/optim/optimizer.cpp optim/optimizer_refusals
  [==[check(all_finite(parameter.grad),]==]
  [==[check(true,]==])

mutant("padding that holds NaN is read"
  nn/layers/multihead_attention.cpp nn/layers/multihead_attention.cpp layers/multihead_attention_padding
  [==[while (t < mask.numel() && !is_broken(t)) ++t;]==]
  [==[t = mask.numel();]==])

mutant("DeepNorm enlarges the stream before the attention only"
  nn/transformer/transformer_encoder_layer.cpp nn/transformer/transformer_encoder_layer.cpp transformer/placement
  [==[return n2(alpha * z + ffn(z));]==]
  [==[return n2(z + ffn(z));]==])

mutant("DeepNorm enlarges the stream before the ffn only"
  nn/transformer/transformer_encoder_layer.cpp nn/transformer/transformer_encoder_layer.cpp transformer/placement
  [==[const Var z = n1(alpha * x + attn(x));]==]
  [==[const Var z = n1(x + attn(x));]==])

mutant("an integer is rounded before it is checked"
  nn/checkpoint/safetensors_reader.cpp nn/checkpoint/safetensors_reader.cpp checkpoint/safetensors
  [==[check(value);
      to[i] = static_cast<double>(value);]==]
  [==[to[i] = static_cast<double>(value);
      check(static_cast<T>(to[i]));]==])

mutant("a tied matrix that differs is taken"
  nn/checkpoint/checkpoint.cpp nn/checkpoint/checkpoint.cpp checkpoint/checkpoint
  [==[if (!equal(*found->second, *assignments_.at(&parameter.value))) {]==]
  [==[if (false) {]==])

mutant("an empty batch is not counted"
  nn/norms/batch_norm.cpp nn/norms/batch_norm.cpp norms/batch_norm
  [==[  num_batches_tracked += Tensor::scalar(1.0);
  if (x.numel() == 0) return;]==]
  [==[  if (x.numel() == 0) return;
  num_batches_tracked += Tensor::scalar(1.0);]==])
