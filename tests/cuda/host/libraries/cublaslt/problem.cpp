#include "problem.h"

#include <algorithm>
#include <initializer_list>
#include <optional>

namespace ambit::cuda::host::cublaslt {
namespace {

constexpr cublasStatus_t kInvalid = CUBLAS_STATUS_INVALID_VALUE;
constexpr cublasStatus_t kUnsupported = CUBLAS_STATUS_NOT_SUPPORTED;

struct Types {
  cublasComputeType_t compute;
  cudaDataType_t scale, a, b, c, d;
};

std::optional<Element> element_of(cudaDataType_t type) {
  switch (type) {
    case CUDA_R_16F:
      return Element::float16;
    case CUDA_R_16BF:
      return Element::bfloat16;
    case CUDA_R_32F:
      return Element::float32;
    case CUDA_R_64F:
      return Element::float64;
    default:
      return std::nullopt;
  }
}

// All four matrices must have one type. Compute types with float32 sums, also by TF32, accept
// float16 and bfloat16, which cannot be mixed.
cublasStatus_t read_types(const Types& t, Problem& p) {
  const std::optional<Element> element = element_of(t.d);
  for (const cudaDataType_t type : {t.a, t.b, t.c}) {
    if (type != t.d) return kUnsupported;
  }
  if (!element) return kUnsupported;
  p.element = *element;
  p.tf32 = t.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  switch (t.compute) {
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
      return t.scale == CUDA_R_32F && !p.is_double() ? CUBLAS_STATUS_SUCCESS : kUnsupported;
    case CUBLAS_COMPUTE_32F_FAST_TF32: {
      const bool fits = t.scale == CUDA_R_32F && p.element == Element::float32;
      return fits ? CUBLAS_STATUS_SUCCESS : kUnsupported;
    }
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      return t.scale == CUDA_R_64F && p.is_double() ? CUBLAS_STATUS_SUCCESS : kUnsupported;
    default:
      return kUnsupported;
  }
}

cublasStatus_t read_layout(const MatrixLayout& l, Matrices& m) {
  const auto rows = static_cast<int64_t>(l.get<uint64_t>(CUBLASLT_MATRIX_LAYOUT_ROWS));
  const auto columns = static_cast<int64_t>(l.get<uint64_t>(CUBLASLT_MATRIX_LAYOUT_COLS));
  const auto batch = l.get<int32_t>(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
  const auto step = l.get<int64_t>(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
  m.ld = l.get<int64_t>(CUBLASLT_MATRIX_LAYOUT_LD);
  m.order = static_cast<cublasLtOrder_t>(l.get<int32_t>(CUBLASLT_MATRIX_LAYOUT_ORDER));
  if (m.order != CUBLASLT_ORDER_COL && m.order != CUBLASLT_ORDER_ROW) return kUnsupported;
  if (l.get<int64_t>(CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET) != 0) return kUnsupported;
  if (l.get<uint32_t>(CUBLASLT_MATRIX_LAYOUT_BATCH_MODE) != CUBLASLT_BATCH_MODE_STRIDED) {
    return kUnsupported;
  }
  const bool by_column = m.order == CUBLASLT_ORDER_COL;
  if (rows <= 0 || columns <= 0 || batch <= 0 || step < 0) return kInvalid;
  if (rows > INT32_MAX || columns > INT32_MAX) return kUnsupported;
  if (m.ld < (by_column ? rows : columns)) return kInvalid;
  m.sizes = {batch, rows, columns};
  m.strides = {step, by_column ? 1 : m.ld, by_column ? m.ld : 1};
  return CUBLAS_STATUS_SUCCESS;
}

// Read the op of a matrix. Values are real, so a conjugate transpose is a transpose.
cublasStatus_t transpose(int32_t operation, Matrices& m) {
  if (operation == CUBLAS_OP_N) return CUBLAS_STATUS_SUCCESS;
  if (operation != CUBLAS_OP_T && operation != CUBLAS_OP_C) return kInvalid;
  std::swap(m.sizes[1], m.sizes[2]);
  std::swap(m.strides[1], m.strides[2]);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t read_epilogue(const MatmulDesc& desc, Problem& p) {
  p.epilogue = static_cast<cublasLtEpilogue_t>(desc.get<uint32_t>(CUBLASLT_MATMUL_DESC_EPILOGUE));
  p.bias = desc.get<const void*>(CUBLASLT_MATMUL_DESC_BIAS_POINTER);
  p.bias_stride = desc.get<int64_t>(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE);
  const auto known = {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_RELU,
                      CUBLASLT_EPILOGUE_BIAS,    CUBLASLT_EPILOGUE_RELU_BIAS,
                      CUBLASLT_EPILOGUE_GELU,    CUBLASLT_EPILOGUE_GELU_BIAS};
  if (std::find(known.begin(), known.end(), p.epilogue) == known.end()) return kUnsupported;
  if (p.epilogue == CUBLASLT_EPILOGUE_DEFAULT) return CUBLAS_STATUS_SUCCESS;
  // Kernels for float64 have no epilogues, and the others require column-major order.
  if (p.is_double() || p.d.order == CUBLASLT_ORDER_ROW) return kUnsupported;
  const auto type = desc.get<int32_t>(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
  const bool fits = type == -1 || element_of(static_cast<cudaDataType_t>(type)) == p.element;
  return fits ? CUBLAS_STATUS_SUCCESS : kUnsupported;
}

bool is_default(const MatmulDesc& desc) {
  return desc.get<int32_t>(CUBLASLT_MATMUL_DESC_TRANSC) == CUBLAS_OP_N &&
         desc.get<int32_t>(CUBLASLT_MATMUL_DESC_FILL_MODE) == CUBLAS_FILL_MODE_FULL &&
         desc.get<const void*>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER) == nullptr &&
         desc.get<const void*>(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER) == nullptr &&
         desc.get<const void*>(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER) == nullptr &&
         desc.get<const void*>(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER) == nullptr;
}

cublasDataType_t type_of(const MatrixLayout& l) {
  return static_cast<cublasDataType_t>(l.get<uint32_t>(CUBLASLT_MATRIX_LAYOUT_TYPE));
}

// op(A) is [m,k] and op(B) is [k,n].
cublasStatus_t read_sizes(Problem& p) {
  p.batch = p.d.sizes[0];
  p.m = p.d.sizes[1];
  p.n = p.d.sizes[2];
  p.k = p.a.sizes[2];
  for (const Matrices* m : {&p.a, &p.b, &p.c}) {
    if (m->sizes[0] != p.batch) return kInvalid;
  }
  const bool fits =
      p.a.sizes[1] == p.m && p.b.sizes[1] == p.k && p.b.sizes[2] == p.n && p.c.sizes == p.d.sizes;
  return fits ? CUBLAS_STATUS_SUCCESS : kInvalid;
}

}  // namespace

uint64_t Problem::fingerprint() const {
  uint64_t h = 1469598103934665603u;  // FNV-1a
  const auto add = [&](int64_t word) { h = (h ^ static_cast<uint64_t>(word)) * 1099511628211u; };
  for (const Matrices* matrices : {&a, &b, &c, &d}) {
    for (const int64_t size : matrices->sizes) add(size);
    for (const int64_t stride : matrices->strides) add(stride);
  }
  add(static_cast<int64_t>(element));
  add(tf32);
  add(epilogue);
  return h;
}

cublasStatus_t read_problem(cublasLtMatmulDesc_t desc, const Layouts& l, Problem& p) {
  if (!desc || !l.a || !l.b || !l.c || !l.d) return kInvalid;
  const MatmulDesc& m = matmul_descs().get(desc);
  const MatrixLayout &a = layouts().get(l.a), &b = layouts().get(l.b), &c = layouts().get(l.c),
                     &d = layouts().get(l.d);
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  const auto ok = [&](cublasStatus_t s) { return (status = s) == CUBLAS_STATUS_SUCCESS; };
  const Types types{
      static_cast<cublasComputeType_t>(m.get<int32_t>(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE)),
      static_cast<cudaDataType_t>(m.get<int32_t>(CUBLASLT_MATMUL_DESC_SCALE_TYPE)),
      type_of(a),
      type_of(b),
      type_of(c),
      type_of(d)};
  p.pointer_mode =
      static_cast<cublasLtPointerMode_t>(m.get<int32_t>(CUBLASLT_MATMUL_DESC_POINTER_MODE));
  const bool read = ok(read_types(types, p)) && ok(read_layout(a, p.a)) &&
                    ok(read_layout(b, p.b)) && ok(read_layout(c, p.c)) && ok(read_layout(d, p.d)) &&
                    ok(transpose(m.get<int32_t>(CUBLASLT_MATMUL_DESC_TRANSA), p.a)) &&
                    ok(transpose(m.get<int32_t>(CUBLASLT_MATMUL_DESC_TRANSB), p.b)) &&
                    ok(read_sizes(p)) && ok(read_epilogue(m, p));
  if (read && (!is_default(m) || p.pointer_mode != CUBLASLT_POINTER_MODE_HOST)) return kUnsupported;
  return status;
}

}  // namespace ambit::cuda::host::cublaslt
