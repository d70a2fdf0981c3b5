// Layers of networks larger than the lessons': attention, normalisation, convolutions in one and
// three dims and transposed ones; each forward only, and with backward.
#include <ambit/nn/functional/recurrent.h>
#include <ambit/ops/attention.h>
#include <ambit/ops/conv.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/norm.h>

#include "op_works.h"
#include "rows.h"

namespace bench {
namespace {

using namespace ambit;

constexpr int64_t kRecurrentLayers = 2;
Tensors weights_of(const Tensors& x) {
  return {x.begin() + 1, x.begin() + 1 + 4 * kRecurrentLayers};
}

struct Layer {
  const char* what;
  const char* size;
  Function function;
  std::vector<std::pair<const char*, Sizes>> operands;
  Sizes output;
  double flops = 0, bytes = 0;            // of forward; 0: unknown
  double grad_flops = 0, grad_bytes = 0;  // of forward and backward
  Parameters parameters{};
};

void add(std::vector<Row>& rows, const Layer& layer) {
  const auto inputs = [layer](bool grad) {
    Inputs all;
    for (const auto& [name, sizes] : layer.operands) {
      all.push_back(random_input(name, sizes, grad));
    }
    if (grad) all.push_back(random_input("gradient", layer.output));
    return all;
  };
  const auto measured = [](Row row, double flops, double bytes) {
    row.memory = true;
    return flops > 0 ? with_flops(std::move(row), flops) : with_bytes(std::move(row), bytes);
  };
  rows.push_back(measured(
      op_row<Forward>(
          layer.what, layer.size, layer.function, [=] { return inputs(false); }, layer.parameters),
      layer.flops, layer.bytes));
  rows.push_back(measured(op_row<ForwardBackward>(
                              layer.what + std::string("_grad"), layer.size, layer.function,
                              [=] { return inputs(true); }, layer.parameters),
                          layer.grad_flops, layer.grad_bytes));
}

// Two products in forward, and four in backward.
Layer attention() {
  const Sizes heads{8, 6, 1024, 64};
  const double product = 2 * count(heads) * 1024;
  return {
      .what = "attention",
      .size = "8x6x1024x64",
      .function = [](const Tensors& x,
                     const Parameters&) { return scaled_dot_product_attention(x[0], x[1], x[2]); },
      .operands = {{"query", heads}, {"key", heads}, {"value", heads}},
      .output = heads,
      .flops = 2 * product,
      .grad_flops = 6 * product};
}

// Forward reads the input twice, for the statistics and for the output, and writes the output.
// Backward reads the input and the gradient twice, and writes one gradient.
Layer norm(const char* what, const char* size, Function function, const Sizes& input,
           const Sizes& weight, Parameters parameters = {}) {
  const double bytes = kFloat * count(input);
  return {.what = what,
          .size = size,
          .function = function,
          .operands = {{"input", input}, {"weight", weight}, {"bias", weight}},
          .output = input,
          .bytes = 3 * bytes,
          .grad_bytes = 8 * bytes,
          .parameters = std::move(parameters)};
}

Layer conv(const char* what, const char* size, Function function, const Sizes& input,
           const Sizes& weight, const Sizes& output, double flops, int64_t parameter) {
  return {.what = what,
          .size = size,
          .function = function,
          .operands = {{"input", input}, {"weight", weight}, {"bias", {output[1]}}},
          .output = output,
          .flops = flops,
          .grad_flops = 3 * flops,
          .parameters = {parameter}};
}

// Two layers as wide as their input, T steps. `gates`: number of gates of the LSTM or GRU.
Layer recurrent(const char* what, int64_t gates, Function function) {
  constexpr int64_t T = 64, B = 32, H = 512;
  const int64_t G = gates;
  Layer layer{.what = what,
              .size = "64x32x512,2",
              .function = function,
              .operands = {{"input", {T, B, H}}},
              .output = {T, B, H},
              .flops = 2. * T * B * kRecurrentLayers * 2 * static_cast<double>(G) * H * H};
  layer.grad_flops = 3 * layer.flops;
  for (int64_t i = 0; i < kRecurrentLayers; ++i) {
    for (const Sizes& sizes : {Sizes{G * H, H}, {G * H, H}, {G * H}, {G * H}}) {
      layer.operands.push_back({"weight", sizes});
    }
  }
  return layer;
}
Layer lstm() {
  return recurrent("lstm_layers", 4, [](const Tensors& x, const Parameters&) {
    const Tensor zero = zeros({kRecurrentLayers, x[0].size(1), x[0].size(2)});
    return std::get<0>(ambit::lstm(x[0], {zero, zero}, weights_of(x), true, kRecurrentLayers, 0,
                                   x[0].requires_grad(), false, false));
  });
}
Layer gru() {
  return recurrent("gru_layers", 3, [](const Tensors& x, const Parameters&) {
    const Tensor zero = zeros({kRecurrentLayers, x[0].size(1), x[0].size(2)});
    return std::get<0>(ambit::gru(x[0], zero, weights_of(x), true, kRecurrentLayers, 0,
                                  x[0].requires_grad(), false, false));
  });
}

}  // namespace

std::vector<Row> layer_rows() {
  std::vector<Row> rows;
  add(rows, attention());
  add(rows, norm("layer_norm", "4096x1024",
                 [](const Tensors& x, const Parameters&) {
                   return layer_norm(x[0], {x[0].size(-1)}, x[1], x[2]);
                 },
                 {4096, 1024}, {1024}));
  // Parameters: the number of groups.
  add(rows,
      norm("group_norm", "32x64x32x32",
           [](const Tensors& x, const Parameters& p) { return group_norm(x[0], p[0], x[1], x[2]); },
           {32, 64, 32, 32}, {64}, {8}));
  // Parameters: the padding; the stride, with a padding of 1.
  const Sizes line{32, 64, 1024}, volume{4, 16, 16, 32, 32}, image{16, 64, 32, 32};
  add(rows,
      conv(
          "conv1d", "32x64x1024,5",
          [](const Tensors& x, const Parameters& p) { return conv1d(x[0], x[1], x[2], 1, p[0]); },
          line, {64, 64, 5}, line, 2 * count(line) * 64 * 5, 2));
  add(rows,
      conv(
          "conv3d", "4x16x16x32x32,3x3x3",
          [](const Tensors& x, const Parameters& p) { return conv3d(x[0], x[1], x[2], 1, p[0]); },
          volume, {32, 16, 3, 3, 3}, {4, 32, 16, 32, 32}, 2 * count(volume) * 32 * 27, 1));
  add(rows, conv(
                "conv_transpose2d", "16x64x32x32,4x4",
                [](const Tensors& x, const Parameters& p) {
                  return conv_transpose2d(x[0], x[1], x[2], p[0], 1);
                },
                image, {64, 32, 4, 4}, {16, 32, 64, 64}, 2 * count(image) * 32 * 16, 2));
  add(rows, lstm());
  add(rows, gru());
  return rows;
}

}  // namespace bench
