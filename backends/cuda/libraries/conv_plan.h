// Which of cuDNN's algorithms convolves given operands. Plans are made without the operands'
// memory, and for a GPU that is only described too, which is how they are tested where there is
// none.
#pragma once

#include <ambit/dtype.h>
#include <ambit/params.h>

#include <vector>

#include "cudnn.h"
#include "plan_cache.h"

namespace ambit::cuda {

/// forward: y from x, w and b; input_grad: x from y and w; weight_grad: w from y and x.
enum class ConvKind { forward, input_grad, weight_grad };

/// All that a plan depends on. Operands are of two or three spatial dims and contiguous: x
/// [N,C,...], w [K,C/groups,...], y [N,K,...], b [K], or with channels_last x [N,...,C], w
/// [K,...,C/groups] and y [N,...,K], though the sizes stay those. Those of 16 bits are added up in
/// float32.
struct ConvProblem {
  ConvKind kind;
  DType dtype;
  Dims x, w, y;
  ConvParams params;
  bool bias = false;
  bool relu = false;       ///< of the sum with the bias, which there is then; it keeps NaN
  int64_t alignment = 16;  ///< bytes; the least of all operands, as far as 16
  bool tf32 = false, deterministic = false, channels_last = false;

  PlanKey key() const;
  /// Make images of one row out of operands with one spatial dim, which cuDNN does not convolve.
  void make_images();
};

/// Names of the operands within a plan.
enum ConvOperand : int64_t { kConvX = 1, kConvW, kConvY, kConvB, kConvProduct, kConvSum };

struct ConvPlan {
  cudnn::Descriptor execution;
  int64_t workspace_bytes;
};

/// The GPU that plans are for: that of a handle, or one that is described.
struct ConvTarget {
  cudnnHandle_t handle = nullptr;
  const cudnn::Descriptor* properties = nullptr;
};

/// Return plans, up to `most` of them, the one first that cuDNN's heuristics take for the fastest.
/// The same problem has the same ones: the first `known` are left out. With relu there are none
/// unless the fastest keeps NaN. Errors: NotImplementedError when cuDNN has none without relu.
std::vector<ConvPlan> conv_plans(const ConvProblem& problem, const ConvTarget& target, size_t most,
                                 size_t known = 0);

}  // namespace ambit::cuda
