// Operation graphs, read from their descriptors.
#pragma once

#include <atomic>
#include <optional>

#include "descriptor.h"
#include "tests/cuda/host/libraries/operand.h"

namespace ambit::cuda::host::cudnn {

struct Tensor {
  int64_t id, alignment;  // in bytes
  cudnnDataType_t type;
  std::vector<int64_t> sizes, strides;
  bool is_virtual;

  Element element() const {
    return type == CUDNN_DATA_DOUBLE     ? Element::float64
           : type == CUDNN_DATA_HALF     ? Element::float16
           : type == CUDNN_DATA_BFLOAT16 ? Element::bfloat16
                                         : Element::float32;
  }
  size_t element_bytes() const { return bytes_of(element()); }
  Operand at(void* data) const { return {data, element(), sizes, strides}; }
};

/// forward: computes y from x and w; data: x from y and w; filter: w from x and y.
enum class ConvKind : uint8_t { forward, data, filter };

/// x [N,C,H,W], w [K,C/groups,R,S], y [N,K,P,Q], each with its own strides; lists are (h, w). In
/// 3-D all have a depth dim before those.
struct Convolution {
  ConvKind kind;
  cudnnDataType_t compute;
  bool flipped;  // a true convolution instead of cross-correlation
  int64_t spatial_dims;
  std::vector<int64_t> stride, dilation, before, after;  // before, after: padding
  double alpha, beta;
  Tensor x, w, y;

  const Tensor& output() const {
    return kind == ConvKind::forward ? y : kind == ConvKind::data ? x : w;
  }
  int64_t groups() const { return x.sizes[1] / w.sizes[1]; }
};

/// y = x + b with broadcast b, or y = max(x, 0), which propagates NaN or replaces it by 0.
struct Pointwise {
  cudnnPointwiseMode_t mode;
  cudnnDataType_t precision;
  bool keeps_nan;
  Tensor x, y;
  std::optional<Tensor> b;
};

/// A convolution followed by pointwise operations.
struct Graph {
  Convolution convolution;
  std::vector<Pointwise> steps;
  int device = -1;  // device of the handle, if there was one
  /// Number of plans made from it; faults are selected by the plans' positions.
  std::shared_ptr<std::atomic<int>> plans = std::make_shared<std::atomic<int>>(0);

  const Tensor& output() const { return steps.empty() ? convolution.output() : steps.back().y; }
  /// Return the tensors whose memory is in the variant pack.
  std::vector<Tensor> operands() const;
};

Tensor read_tensor(const Node& node);
Convolution read_convolution(const Node& operation);
Pointwise read_pointwise(const Node& operation);

/// Return the graph of operations, given in any order; nullopt unless it is a 2-D or 3-D
/// convolution, alone or followed by an addition and optionally a relu, with one dtype.
std::optional<Graph> read_graph(const std::vector<NodePtr>& operations);

}  // namespace ambit::cuda::host::cudnn
