// Calls of the cuBLASLt emulation.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "api.h"

namespace host_libraries {

inline const CublasLtApi& lt() { return emulated_cublaslt(); }

inline cublasLtHandle_t lt_handle() {
  static const cublasLtHandle_t made = [] {
    cublasLtHandle_t h = nullptr;
    REQUIRE(lt().create(&h) == CUBLAS_STATUS_SUCCESS);
    return h;
  }();
  return made;
}

struct Layout {
  uint64_t rows = 1, columns = 1;
  int64_t ld = 0, step = 0;
  int32_t batch = 1;
  cudaDataType_t type = CUDA_R_32F;
  cublasLtOrder_t order = CUBLASLT_ORDER_COL;
};

/// Descriptors of a product, which tests modify before the call. D [m,n] = op(A) op(B),
/// column-major.
struct Product {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cudaDataType_t scale = CUDA_R_32F;
  int32_t op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N, op_c = CUBLAS_OP_N, pointer_mode = 0;
  uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  Layout a, b, c, d;
  uint64_t most_workspace = 32 << 20;
  uint32_t alignment = 256, schemes = CUBLASLT_REDUCTION_SCHEME_MASK;

  Product(uint64_t m, uint64_t n, uint64_t k)
      : a{m, k, int64_t(m)}, b{k, n, int64_t(k)}, c{m, n, int64_t(m)}, d{c} {}
};

/// The created descriptors.
class Call {
 public:
  explicit Call(const Product& p) : p_(p) {
    lt().make_desc(&desc_, p.compute, p.scale);
    set(CUBLASLT_MATMUL_DESC_TRANSA, p.op_a);
    set(CUBLASLT_MATMUL_DESC_TRANSB, p.op_b);
    set(CUBLASLT_MATMUL_DESC_TRANSC, p.op_c);
    set(CUBLASLT_MATMUL_DESC_POINTER_MODE, p.pointer_mode);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, p.epilogue);
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, p.bias);
    const Layout* layouts[] = {&p.a, &p.b, &p.c, &p.d};
    for (int i = 0; i < 4; ++i) layouts_[i] = make(*layouts[i]);
    lt().make_preference(&preference_);
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, p.most_workspace);
    prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, p.schemes);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, p.alignment);
  }
  ~Call() {
    lt().destroy_desc(desc_);
    for (cublasLtMatrixLayout_t l : layouts_) lt().destroy_layout(l);
    lt().destroy_preference(preference_);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  template <class T>
  void set(cublasLtMatmulDescAttributes_t name, const T& value) {
    REQUIRE(lt().set_desc(desc_, name, &value, sizeof(value)) == CUBLAS_STATUS_SUCCESS);
  }
  cublasStatus_t ask(int most = 10) {
    found_.resize(static_cast<size_t>(std::max(most, 0)));
    int count = 0;
    const cublasStatus_t status =
        lt().heuristic(lt_handle(), desc_, layouts_[0], layouts_[1], layouts_[2], layouts_[3],
                       preference_, most, found_.data(), &count);
    found_.resize(static_cast<size_t>(count));
    return status;
  }
  const std::vector<cublasLtMatmulHeuristicResult_t>& found() const { return found_; }

  struct Memory {
    const void *a, *b, *c;
    void* d;
    void* workspace = nullptr;
    size_t workspace_bytes = 0;
    double alpha = 1, beta = 0;
  };
  cublasStatus_t run(const cublasLtMatmulAlgo_t* algo, const Memory& m) {
    const float alpha = static_cast<float>(m.alpha), beta = static_cast<float>(m.beta);
    const bool wide = p_.scale == CUDA_R_64F;
    const void* one = wide ? static_cast<const void*>(&m.alpha) : &alpha;
    const void* other = wide ? static_cast<const void*>(&m.beta) : &beta;
    return lt().matmul(lt_handle(), desc_, one, m.a, layouts_[0], m.b, layouts_[1], other, m.c,
                       layouts_[2], m.d, layouts_[3], algo, m.workspace, m.workspace_bytes,
                       nullptr);
  }

 private:
  static cublasLtMatrixLayout_t make(const Layout& l) {
    cublasLtMatrixLayout_t layout = nullptr;
    lt().make_layout(&layout, l.type, l.rows, l.columns, l.ld);
    lt().set_layout(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &l.batch, sizeof(l.batch));
    lt().set_layout(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &l.step, sizeof(l.step));
    const auto order = static_cast<int32_t>(l.order);
    lt().set_layout(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof(order));
    return layout;
  }
  template <class T>
  void prefer(cublasLtMatmulPreferenceAttributes_t name, const T& value) {
    REQUIRE(lt().set_preference(preference_, name, &value, sizeof(value)) == CUBLAS_STATUS_SUCCESS);
  }

  const Product p_;
  cublasLtMatmulDesc_t desc_ = nullptr;
  cublasLtMatrixLayout_t layouts_[4] = {};
  cublasLtMatmulPreference_t preference_ = nullptr;
  std::vector<cublasLtMatmulHeuristicResult_t> found_;
};

}  // namespace host_libraries
