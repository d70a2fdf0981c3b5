// A convolution as a graph of cuDNN descriptors, and its expected result by the reference backend,
// for tests of the emulation.
#pragma once

#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <vector>

#include "cudnn_script.h"
#include "gpu_array.h"

namespace host_libraries {

using namespace ambit;
using D = CudnnScript::Descriptor;

struct Problem {
  Kind kind;
  Dims x, w;
  ConvParams params = {};
  DType dtype = kFloat32;
  bool channels_last = false, bias = false, relu = false, keeps_nan = false;

  Dims y() const { return params.out_sizes("convolution", x, w); }
};

inline constexpr int64_t kX = 1, kW = 2, kY = 3, kB = 4, kBetween = 5, kBiased = 6;

inline cudnnHandle_t handle() {
  static const cudnnHandle_t made = [] {
    cudnnHandle_t h = nullptr;
    cudaStream_t stream = nullptr;
    must(cudaStreamCreate(&stream));
    REQUIRE(emulated_cudnn().create(&h) == CUDNN_STATUS_SUCCESS);
    REQUIRE(emulated_cudnn().set_stream(h, stream) == CUDNN_STATUS_SUCCESS);
    return h;
  }();
  return made;
}

inline cudnnDataType_t data_type(DType dtype) {
  return dtype == kFloat16    ? CUDNN_DATA_HALF
         : dtype == kBFloat16 ? CUDNN_DATA_BFLOAT16
         : dtype == kFloat64  ? CUDNN_DATA_DOUBLE
                              : CUDNN_DATA_FLOAT;
}
inline cudnnDataType_t sum_type(DType dtype) {
  return dtype == kFloat64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
}

// [N,C,...] -> [N,...,C]
inline Dims channels_last(const Dims& n) {
  Dims sizes(IntArrayRef(n).slice(2));
  sizes.insert(0, n[0]);
  sizes.push_back(n[1]);
  return sizes;
}
inline Sizes channels_last_strides(const Dims& n) {
  Sizes strides(n.size(), 1);
  int64_t step = n[1];
  for (size_t d = n.size(); d-- > 2; step *= n[d]) strides[d] = step;
  strides[0] = step;
  return strides;
}

// Return the graph of a problem, as the plugin builds it.
inline D graph_of(CudnnScript& s, const Problem& p, double alpha = 1, double beta = 0) {
  const auto tensor = [&](int64_t id, const Dims& n, bool is_virtual = false) {
    TensorSpec spec{.id = id, .sizes = Sizes(n.begin(), n.end()), .is_virtual = is_virtual};
    spec.type = is_virtual ? sum_type(p.dtype) : data_type(p.dtype);
    if (p.channels_last) spec.strides = channels_last_strides(n);
    return s.tensor(spec);
  };
  const auto list = [&](const PerAxis& numbers) { return numbers.of(p.x.size() - 2).vec(); };
  const ConvSpec conv{.stride = list(p.params.stride),
                      .dilation = list(p.params.dilation),
                      .before = list(p.params.padding),
                      .after = list(p.params.padding),
                      .compute = sum_type(p.dtype),
                      .alpha = alpha,
                      .beta = beta};
  const Dims y = p.y();
  D product = p.bias ? tensor(kBetween, y, true) : tensor(kY, y);
  Dims repeated(y.size(), 1);
  repeated[1] = p.w[0];
  std::vector<D> operations{
      s.operation(p.kind, conv, s.convolution(conv), tensor(kX, p.x), tensor(kW, p.w), product)};
  if (p.bias) {
    D sum = p.relu ? tensor(kBiased, y, true) : tensor(kY, y);
    operations.push_back(
        s.pointwise(CUDNN_POINTWISE_ADD, product, tensor(kB, repeated), sum, conv.compute));
    if (p.relu) {
      operations.push_back(s.pointwise(CUDNN_POINTWISE_RELU_FWD, sum, nullptr, tensor(kY, y),
                                       conv.compute, p.keeps_nan));
    }
  }
  return s.graph(operations, handle());
}

// Operands of a problem, its exact result, and the sum of the magnitudes of its terms.
struct Operands {
  Tensor x, w, y, b, exact, magnitude;
  int64_t terms;

  explicit Operands(const Problem& p) {
    const TensorOptions wide = TensorOptions(p.dtype);
    x = randn(p.x, wide);
    w = randn(p.w, wide);
    y = randn(p.y(), wide);
    b = p.bias ? randn({p.w[0]}, wide) : Tensor();
    const auto ours = [&](const Tensor& t) { return t.to(Device("reference"), kFloat64); };
    const auto compute = [&](const Tensor& X, const Tensor& W, const Tensor& Y, const Tensor& B) {
      switch (p.kind) {
        case Kind::forward:
          return p.x.size() == 5 ? conv3d(X, W, B, p.params) : conv2d(X, W, B, p.params);
        case Kind::data:
          return convolution_input_grad(Y, W, p.x, p.params);
        default:
          return convolution_weight_grad(Y, X, p.w, p.params);
      }
    };
    const Tensor no;
    exact = compute(ours(x), ours(w), ours(y), b.defined() ? ours(b) : no).cpu();
    if (p.relu) exact = relu(exact);
    magnitude =
        compute(ours(x).abs(), ours(w).abs(), ours(y).abs(), b.defined() ? ours(b).abs() : no)
            .cpu();
    const int64_t window = count("convolution", IntArrayRef(p.w).slice(2));
    terms = p.kind == Kind::forward ? p.w[1] * window
            : p.kind == Kind::data  ? p.w[0] * window
                                    : y.numel() / y.size(1);
  }
  // Return t in the problem's memory layout.
  Tensor laid_out(const Tensor& t, const Problem& p) const {
    return p.channels_last && t.dim() > 2 ? t.movedim(1, -1).contiguous() : t;
  }
};

}  // namespace host_libraries
