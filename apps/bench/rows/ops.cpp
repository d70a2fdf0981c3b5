// Single ops: the overhead of their calls, and their speed on large operands.
#include <ambit/ops/conv.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/loss.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/pool.h>
#include <ambit/ops/products.h>
#include <ambit/ops/quantized.h>
#include <ambit/ops/random.h>

#include <fmt/format.h>

#include "op_works.h"
#include "rows.h"

namespace bench {
namespace {

using namespace ambit;

std::vector<Row> elementwise_rows() {
  const Function add = [](const Tensors& x, const Parameters&) { return x[0] + x[1]; };
  const auto operands = [](const Sizes& a, const Sizes& b, bool grad) {
    return [=] { return Inputs{random_input("a", a, grad), random_input("b", b)}; };
  };
  const Sizes one{1}, large{1 << 24}, square{4096, 4096}, line{4096};
  return {op_row<Forward>("add", "1", add, operands(one, one, false)),
          op_row<Forward>("add_recorded", "1", add, operands(one, one, true)),
          with_bytes(op_row<Forward>("add", "16Mi", add, operands(large, large, false)),
                     3 * kFloat * count(large)),
          with_bytes(op_row<Forward>("add_broadcast", "4096x4096+4096", add,
                                     operands(square, line, false)),
                     2 * kFloat * count(square))};
}

std::vector<Row> reduction_rows() {
  std::vector<Row> rows;
  const Sizes cube{256, 256, 256}, square{4096, 4096};
  const Function sum = [](const Tensors& x, const Parameters& p) { return x[0].sum(p[0]); };
  for (int64_t dim = 0; dim < 3; ++dim) {
    rows.push_back(
        with_bytes(op_row<Forward>("sum", fmt::format("256x256x256,dim{}", dim), sum,
                                   [cube] { return Inputs{random_input("input", cube)}; }, {dim}),
                   kFloat * count(cube)));
  }
  const Function softmax = [](const Tensors& x, const Parameters& p) { return x[0].softmax(p[0]); };
  for (int64_t dim = 0; dim < 2; ++dim) {
    rows.push_back(with_bytes(
        op_row<Forward>("softmax", fmt::format("4096x4096,dim{}", dim), softmax,
                        [square] { return Inputs{random_input("input", square)}; }, {dim}),
        2 * kFloat * count(square)));
  }
  return rows;
}

Inputs in_bfloat16(Inputs inputs) {
  for (Input& input : inputs) input.value = input.value.to(kBFloat16);
  return inputs;
}

std::vector<Row> matmul_rows() {
  std::vector<Row> rows;
  const Function matmul = [](const Tensors& x, const Parameters&) { return x[0].matmul(x[1]); };
  for (const int64_t n : {64, 128, 256, 512, 1024, 2048}) {
    const Sizes sizes{n, n};
    rows.push_back(with_flops(
        op_row<Forward>("matmul", std::to_string(n), matmul,
                        [sizes] {
                          return Inputs{random_input("a", sizes), random_input("b", sizes)};
                        }),
        2 * count(sizes) * static_cast<double>(n)));
  }
  Row amp = rows.back();
  amp.what += "_amp";
  amp.set_make(true, [matmul](const Inputs& in, Device device, bool is_amp) {
    return std::make_unique<Forward>(matmul, is_amp ? in_bfloat16(in) : in, Parameters(), device);
  });
  rows.push_back(amp);
  return rows;
}

std::vector<Row> einsum_rows() {
  const std::vector<Sizes> operands[] = {{{32, 128, 128}, {32, 128, 128}},
                                         {{8, 256, 8, 64}, {8, 256, 8, 64}},
                                         {{256, 512}, {512, 512}, {256, 512}},
                                         {{1024, 1024}, {1024}}};
  std::vector<Row> rows;
  for (size_t i = 0; i < std::size(kEinsums); ++i) {
    const auto inputs = [sizes = operands[i]] {
      Inputs made;
      for (const Sizes& one : sizes) made.push_back(random_input("operand", one));
      return made;
    };
    rows.push_back(op_row<Forward>("einsum", kEinsums[i],
                                   [](const Tensors& x, const Parameters& p) {
                                     return ambit::einsum(kEinsums[static_cast<size_t>(p[0])], x);
                                   },
                                   inputs, {static_cast<int64_t>(i)}));
  }
  return rows;
}

/// The weight is quantised once, by the constructor.
class Int8Linear final : public Forward {
 public:
  Int8Linear(Function function, const Inputs& inputs, const Parameters& parameters, Device device)
      : Forward(function, inputs, parameters, device) {
    const auto [q, scale] = quantize_rows(tensors_[1]);
    tensors_ = {tensors_[0], q, scale};
  }
};

// Layers with batches of a few rows, for which reading the weights takes most of the time.
std::vector<Row> linear_rows() {
  std::vector<Row> rows;
  const Function float32 = [](const Tensors& x, const Parameters&) { return linear(x[0], x[1]); };
  const Function int8 = [](const Tensors& x, const Parameters&) {
    return linear_int8(x[0], x[1], x[2]);
  };
  constexpr int64_t kFeatures = 4096;
  const auto operands = [](int64_t batch) {
    return Inputs{random_input("input", {batch, kFeatures}),
                  random_input("weight", {kFeatures, kFeatures})};
  };
  for (const int64_t batch : {1, 8, 64}) {
    const std::string size = std::to_string(batch) + "x4096";
    const double flops = 2.0 * static_cast<double>(batch * kFeatures * kFeatures);
    rows.push_back(with_flops(
        op_row<Forward>("linear", size, float32, [=] { return operands(batch); }), flops));
    rows.push_back(with_flops(
        op_row<Int8Linear>("linear_int8", size, int8, [=] { return operands(batch); }), flops));
  }
  return rows;
}

struct ConvShape {
  const char* name;
  Sizes input, weight, output;
  int64_t padding;
  bool first;  // its input is an image, which needs no gradient
};

// The lessons' convolutions at batch 64, and one as large as in larger networks.
const ConvShape kConvShapes[] = {
    {"net.conv1", {64, 3, 32, 32}, {6, 3, 5, 5}, {64, 6, 28, 28}, 0, true},
    {"net.conv2", {64, 6, 14, 14}, {16, 6, 5, 5}, {64, 16, 10, 10}, 0, false},
    {"tudui.0", {64, 3, 32, 32}, {32, 3, 5, 5}, {64, 32, 32, 32}, 2, true},
    {"tudui.2", {64, 32, 16, 16}, {32, 32, 5, 5}, {64, 32, 16, 16}, 2, false},
    {"tudui.4", {64, 32, 8, 8}, {64, 32, 5, 5}, {64, 64, 8, 8}, 2, false},
    {"32x64x56x56,3x3", {32, 64, 56, 56}, {64, 64, 3, 3}, {32, 64, 56, 56}, 1, false},
};

// Parameters: the padding.
std::vector<Row> conv_rows() {
  std::vector<Row> rows;
  const Function conv = [](const Tensors& x, const Parameters& p) {
    return conv2d(x[0], x[1], x[2], {.padding = {p[0], p[0]}});
  };
  for (const ConvShape& s : kConvShapes) {
    const auto inputs = [s](bool grad) {
      Inputs all{random_input("input", s.input, grad && !s.first),
                 random_input("weight", s.weight, grad), random_input("bias", {s.weight[0]}, grad)};
      if (grad) all.push_back(random_input("gradient", s.output));
      return all;
    };
    const double forward = 2 * count(s.output) * count(s.weight) / static_cast<double>(s.weight[0]);
    rows.push_back(with_flops(
        op_row<Forward>("conv2d", s.name, conv, [inputs] { return inputs(false); }, {s.padding}),
        forward));
    rows.push_back(
        with_flops(op_row<ForwardBackward>("conv2d_grad", s.name, conv,
                                           [inputs] { return inputs(true); }, {s.padding}),
                   forward * (s.first ? 2 : 3)));
  }
  return rows;
}

std::vector<Row> pool_and_norm_rows() {
  const Sizes pooled{64, 32, 32, 32}, halved{64, 32, 16, 16}, normed{64, 64, 32, 32};
  const Function pool = [](const Tensors& x, const Parameters&) {
    return max_pool2d(x[0], {.kernel = {2, 2}});
  };
  const Function norm = [](const Tensors& x, const Parameters&) {
    return batch_norm(x[0], x[1], x[2], {}, {}, {});
  };
  const auto pool_inputs = [=](bool grad) {
    Inputs all{random_input("input", pooled, grad)};
    if (grad) all.push_back(random_input("gradient", halved));
    return all;
  };
  const auto norm_inputs = [=](bool grad) {
    Inputs all{random_input("input", normed, grad), random_input("weight", {64}, grad),
               random_input("bias", {64}, grad)};
    if (grad) all.push_back(random_input("gradient", normed));
    return all;
  };
  // Forward reads the input and writes the output; backward reads and writes the same amount again.
  // Batch norm reads its input twice each time, for the statistics and for the output.
  const double pool_bytes = kFloat * (count(pooled) + count(halved));
  const double norm_bytes = 3 * kFloat * count(normed);
  return {with_bytes(op_row<Forward>("max_pool2d", "64x32x32x32", pool,
                                     [=] { return pool_inputs(false); }),
                     pool_bytes),
          with_bytes(op_row<ForwardBackward>("max_pool2d_grad", "64x32x32x32", pool,
                                             [=] { return pool_inputs(true); }),
                     2 * pool_bytes),
          with_bytes(op_row<Forward>("batch_norm", "64x64x32x32", norm,
                                     [=] { return norm_inputs(false); }),
                     norm_bytes),
          with_bytes(op_row<ForwardBackward>("batch_norm_grad", "64x64x32x32", norm,
                                             [=] { return norm_inputs(true); }),
                     norm_bytes + 5 * kFloat * count(normed))};
}

std::vector<Row> cross_entropy_rows() {
  std::vector<Row> rows;
  const Function loss = [](const Tensors& x, const Parameters&) {
    return cross_entropy(x[0], x[1]);
  };
  for (const auto& [batch, classes] : {std::pair<int64_t, int64_t>{64, 10}, {1024, 1000}}) {
    const auto inputs = [batch = batch, classes = classes](bool grad) {
      Inputs all{random_input("input", {batch, classes}, grad),
                 {"target", randint(0, classes, {batch})}};
      if (grad) all.push_back({"gradient", ones({})});
      return all;
    };
    const std::string size = fmt::format("{}x{}", batch, classes);
    rows.push_back(
        op_row<Forward>("cross_entropy", size, loss, [inputs] { return inputs(false); }));
    rows.push_back(op_row<ForwardBackward>("cross_entropy_grad", size, loss,
                                           [inputs] { return inputs(true); }));
  }
  return rows;
}

}  // namespace

std::vector<Row> op_rows() {
  std::vector<Row> all;
  for (const auto family : {elementwise_rows, reduction_rows, matmul_rows, einsum_rows, linear_rows,
                            conv_rows, pool_and_norm_rows, cross_entropy_rows}) {
    for (Row& row : family()) all.push_back(std::move(row));
  }
  return all;
}

}  // namespace bench
