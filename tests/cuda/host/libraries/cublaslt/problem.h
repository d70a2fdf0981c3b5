// A cublasLtMatmul call, read from its descriptors and checked.
#pragma once

#include "descriptors.h"
#include "tests/cuda/host/libraries/operand.h"

namespace ambit::cuda::host::cublaslt {

/// A batch of matrices in memory: sizes {batch, rows, columns}.
struct Matrices {
  std::vector<int64_t> sizes, strides;
  cublasLtOrder_t order;
  int64_t ld;

  Operand at(const void* data, Element element) const {
    return {const_cast<void*>(data), element, sizes, strides};
  }
};

/// D [batch,m,n] = epilogue(alpha op(A) op(B) + beta C + bias): op(A) [batch,m,k], op(B)
/// [batch,k,n].
struct Problem {
  int64_t batch, m, n, k;
  Element element;  // of all matrices and the bias; float16 and bfloat16 are summed in float
  bool tf32;
  Matrices a, b, c, d;
  cublasLtEpilogue_t epilogue;
  const void* bias;  // [m], or one per batch element if the stride is set
  int64_t bias_stride;
  cublasLtPointerMode_t pointer_mode;

  size_t element_bytes() const { return bytes_of(element); }
  bool is_double() const { return element == Element::float64; }
  bool has_bias() const { return epilogue & CUBLASLT_EPILOGUE_BIAS; }
  bool has_relu() const { return epilogue & CUBLASLT_EPILOGUE_RELU; }
  bool has_gelu() const { return epilogue & CUBLASLT_EPILOGUE_GELU; }
  /// Return a hash of the problem's sizes, strides and types.
  uint64_t fingerprint() const;
};

struct Layouts {
  cublasLtMatrixLayout_t a, b, c, d;
};

/// Fill a problem. INVALID_VALUE: the descriptors are null or inconsistent; NOT_SUPPORTED: the
/// library, or this emulation, has no kernel.
cublasStatus_t read_problem(cublasLtMatmulDesc_t desc, const Layouts& layouts, Problem& problem);

}  // namespace ambit::cuda::host::cublaslt
