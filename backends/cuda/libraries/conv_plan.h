// Selection of cuDNN's algorithm for given operands. Plans need neither the operands' memory nor a
// GPU: a description suffices, with which tests run on machines without one.
#pragma once

#include <ambit/dtype.h>
#include <ambit/params.h>

#include <vector>

#include "cudnn.h"
#include "plan_cache.h"

namespace ambit::cuda {

/// forward: y from x, w and b; input_grad: x from y and w; weight_grad: w from y and x.
enum class ConvKind { forward, input_grad, weight_grad };

/// All that a plan depends on. Operands have two or three spatial dims and are contiguous: x
/// [N,C,...], w [K,C/groups,...], y [N,K,...], b [K]; with channels_last x [N,...,C], w
/// [K,...,C/groups] and y [N,...,K], with the sizes still in the first order. Reduced
/// floating-point types accumulate in float32.
struct ConvProblem {
  ConvKind kind;
  DType dtype;
  Dims x, w, y;
  ConvParams params;
  bool bias = false;
  bool relu = false;       ///< relu of the sum with the bias, which is then required; keeps NaN
  int64_t alignment = 16;  ///< bytes; the minimum over all operands, at most 16
  bool tf32 = false, deterministic = false, channels_last = false;

  PlanKey key() const;
  /// Convert operands with one spatial dim, which cuDNN does not support, to images of one row.
  void make_images();
};

/// Ids of the operands in a plan.
enum ConvOperand : int64_t { kConvX = 1, kConvW, kConvY, kConvB, kConvProduct, kConvSum };

struct ConvPlan {
  cudnn::Descriptor execution;
  int64_t workspace_bytes;
};

/// The GPU for which plans are made: the GPU of a handle, or a described one.
struct ConvTarget {
  cudnnHandle_t handle = nullptr;
  const cudnn::Descriptor* properties = nullptr;
};

/// Return up to `most` plans in the order of cuDNN's heuristics, except the first `known` ones. The
/// order is the same for equal problems. With relu, return none unless the fastest keeps NaN.
/// Errors: NotImplementedError if cuDNN has no plan without relu.
std::vector<ConvPlan> conv_plans(const ConvProblem& problem, const ConvTarget& target, size_t most,
                                 size_t known = 0);

}  // namespace ambit::cuda
