// What is asked of cublasLtMatmul, read from its descriptors and checked.
#pragma once

#include "descriptors.h"
#include "tests/cuda/host/libraries/operand.h"

namespace ambit::cuda::host::cublaslt {

/// A batch of matrices as they lie: sizes {batch, rows, columns}.
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
  Element element;  // of all matrices and the bias; of 16 bits they are added up in float
  bool tf32;
  Matrices a, b, c, d;
  cublasLtEpilogue_t epilogue;
  const void* bias;  // [m], one for each of the batch where the stride says so
  int64_t bias_stride;
  cublasLtPointerMode_t pointer_mode;

  size_t element_bytes() const { return bytes_of(element); }
  bool is_double() const { return element == Element::float64; }
  bool has_bias() const { return epilogue & CUBLASLT_EPILOGUE_BIAS; }
  bool has_relu() const { return epilogue & CUBLASLT_EPILOGUE_RELU; }
  bool has_gelu() const { return epilogue & CUBLASLT_EPILOGUE_GELU; }
  /// A number that tells this problem from others of other sizes, strides or types.
  uint64_t fingerprint() const;
};

struct Layouts {
  cublasLtMatrixLayout_t a, b, c, d;
};

/// Fill a problem. INVALID_VALUE: the descriptors are null or contradict each other; NOT_SUPPORTED:
/// what the library, or this emulation of it, has no kernels for.
cublasStatus_t read_problem(cublasLtMatmulDesc_t desc, const Layouts& layouts, Problem& problem);

}  // namespace ambit::cuda::host::cublaslt
