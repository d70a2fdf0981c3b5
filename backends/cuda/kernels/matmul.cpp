// Matrix products by cuBLASLt, which uses column-major matrices: y = a b is computed as y^T = b^T
// a^T, so that rows serve as columns and nothing is copied.
#include <ambit/ops/creation.h>
#include <ambit/settings.h>
#include <fmt/format.h>

#include <bit>
#include <optional>
#include <string>
#include <vector>

#include "backends/cuda/kernels.h"
#include "backends/cuda/libraries/cublaslt.h"
#include "backends/cuda/libraries/matmul_layout.h"
#include "backends/cuda/libraries/plan_cache.h"
#include "backends/cuda/libraries/ranked_plans.h"
#include "backends/cuda/loops/repeated.h"
#include "backends/cuda/runtime/workspace.h"
#include "matmul_tiled.h"

namespace ambit::cuda {
namespace {

// cuBLAS's own workspace size on Hopper; smaller GPUs need less.
constexpr uint64_t kMostWorkspaceBytes = uint64_t{32} << 20;

/// y [batch,rows,columns] = map(left right + bias), column-major; or y += left right if `adds`.
/// bias [rows] or null; map: one of kActivations, or none.
struct BlasProduct {
  DType dtype;
  int64_t batch, rows, columns;
  BlasLayout left_layout, right_layout;
  int64_t left_step, right_step;  // between matrices, in elements
  const void *left, *right, *bias;
  void* y;
  std::optional<UnaryOp> map;
  bool adds = false;
};

struct MatmulPlan {
  cublaslt::MatmulDesc product;
  cublaslt::MatrixLayout left, right, y;
  RankedPlans<cublasLtMatmulHeuristicResult_t> algorithms;
};

// Vector accesses are at most 16 bytes wide.
int64_t alignment(const void* p) {
  return int64_t{1} << std::countr_zero(reinterpret_cast<uintptr_t>(p) | 16);
}

cudaDataType_t data_type(DType dtype) {
  switch (dtype) {
    case kFloat16:
      return CUDA_R_16F;
    case kBFloat16:
      return CUDA_R_16BF;
    case kFloat64:
      return CUDA_R_64F;
    default:
      return CUDA_R_32F;
  }
}

cublasComputeType_t compute_type(DType dtype) {
  if (dtype == kFloat64) return CUBLAS_COMPUTE_64F;
  const bool tf32 = dtype == kFloat32 && is_tf32_allowed();
  return tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

// Return the epilogue applied to sums. float64 kernels support none with a map.
std::optional<cublasLtEpilogue_t> epilogue_of(const BlasProduct& p) {
  if (!p.map) return p.bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
  if (p.dtype == kFloat64) return std::nullopt;
  // There is none for exact gelu, and the relu epilogue maps NaN to 0.
  if (*p.map != UnaryOp::gelu_tanh) return std::nullopt;
  return p.bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
}

// Return the allowed split-k reduction schemes. In-place reduction has no fixed order, and partial
// sums of a reduced floating-point type would be rounded more than once.
uint32_t reduction_schemes(DType dtype) {
  if (is_reduced_floating(dtype)) return CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  constexpr uint32_t kInOrder =
      CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE | CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE;
  return is_deterministic() ? kInOrder : uint32_t{CUBLASLT_REDUCTION_SCHEME_MASK};
}

PlanKey key_of(const BlasProduct& p) {
  PlanKey key;
  key.add(Call::stream().gpu.index()).add(static_cast<int64_t>(p.dtype));
  key.add({p.batch, p.rows, p.columns, p.left_step, p.right_step});
  for (const BlasLayout& l : {p.left_layout, p.right_layout}) {
    key.add({l.transpose, l.rows, l.columns, l.ld});
  }
  for (const void* pointer : {p.left, p.right, p.bias, static_cast<const void*>(p.y)}) {
    key.add(alignment(pointer));
  }
  key.add({p.bias != nullptr, p.adds, is_tf32_allowed(), is_deterministic()});
  key.add(p.map ? static_cast<int64_t>(*p.map) : -1);
  return key;
}

cublaslt::Preference preference_for(const BlasProduct& p, uint64_t most_workspace_bytes) {
  cublaslt::Preference preference = cublaslt::preference();
  const auto align = [&](cublasLtMatmulPreferenceAttributes_t name, const void* pointer) {
    set(preference, name, static_cast<uint32_t>(alignment(pointer)));
  };
  set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, most_workspace_bytes);
  align(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, p.left);
  align(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, p.right);
  align(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, p.y);
  align(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, p.y);
  set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, reduction_schemes(p.dtype));
  return preference;
}

// Return algorithms in the order of the heuristics; empty if cuBLASLt does not support the product.
std::vector<cublasLtMatmulHeuristicResult_t> algorithms_for(const BlasProduct& p,
                                                            const MatmulPlan& plan,
                                                            uint64_t most_workspace_bytes) {
  constexpr int kMost = 8;
  const cublaslt::Preference preference = preference_for(p, most_workspace_bytes);
  std::vector<cublasLtMatmulHeuristicResult_t> found(kMost);
  int count = 0;
  const cublasStatus_t status = cublaslt::api().cublasLtMatmulAlgoGetHeuristic(
      cublaslt::handle(), plan.product.get(), plan.left.get(), plan.right.get(), plan.y.get(),
      plan.y.get(), preference.get(), kMost, found.data(), &count);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE) return {};
  cublaslt::check(status, "cublasLtMatmulAlgoGetHeuristic");
  found.resize(static_cast<size_t>(count));
  std::erase_if(found, [](const auto& result) { return result.state != CUBLAS_STATUS_SUCCESS; });
  return found;
}

MatmulPlan plan_for(const BlasProduct& p) {
  const cudaDataType_t type = data_type(p.dtype);
  const cudaDataType_t scale = p.dtype == kFloat64 ? CUDA_R_64F : CUDA_R_32F;
  MatmulPlan plan{.product = cublaslt::matmul_desc(compute_type(p.dtype), scale)};
  const auto batched = [&](const BlasLayout& l, int64_t step) {
    cublaslt::MatrixLayout layout = cublaslt::matrix_layout(type, l.rows, l.columns, l.ld);
    set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<int32_t>(p.batch));
    set(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, step);
    return layout;
  };
  plan.left = batched(p.left_layout, p.left_step);
  plan.right = batched(p.right_layout, p.right_step);
  plan.y = batched({false, p.rows, p.columns, p.rows}, p.rows * p.columns);
  const auto form = [](const BlasLayout& l) { return l.transpose ? CUBLAS_OP_T : CUBLAS_OP_N; };
  set(plan.product, CUBLASLT_MATMUL_DESC_TRANSA, form(p.left_layout));
  set(plan.product, CUBLASLT_MATMUL_DESC_TRANSB, form(p.right_layout));
  set(plan.product, CUBLASLT_MATMUL_DESC_EPILOGUE, *epilogue_of(p));
  if (p.bias) set(plan.product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, p.bias);
  plan.algorithms = RankedPlans(algorithms_for(p, plan, kMostWorkspaceBytes));
  return plan;
}

// Return true if cuBLASLt supports the product, which is then queued. If none of the fastest
// algorithms works, try those without workspace.
bool multiply(const BlasProduct& p) {
  if (!epilogue_of(p)) return false;
  thread_local PlanCache<MatmulPlan> cache;
  MatmulPlan& plan = cache.get(key_of(p), [&] { return plan_for(p); });
  if (plan.algorithms.empty()) return false;
  if (p.bias) set(plan.product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, p.bias);
  // 1 and beta in the type of the sums.
  const double one = 1, beta = p.adds;
  const float one_float = 1, beta_float = p.adds;
  const bool wide = p.dtype == kFloat64;
  const auto scale = [&](const double& d, const float& f) {
    return wide ? static_cast<const void*>(&d) : &f;
  };
  const auto run = [&](const cublasLtMatmulHeuristicResult_t& choice) {
    const Workspace workspace(choice.workspaceSize);
    return cublaslt::api().cublasLtMatmul(
        cublaslt::handle(), plan.product.get(), scale(one, one_float), p.left, plan.left.get(),
        p.right, plan.right.get(), scale(beta, beta_float), p.y, plan.y.get(), p.y, plan.y.get(),
        &choice.algo, workspace.data(), choice.workspaceSize, Call::stream().handle);
  };
  const cublasStatus_t status =
      plan.algorithms.run(run, [&] { return algorithms_for(p, plan, 0); });
  if (status == CUBLAS_STATUS_SUCCESS) return true;
  const std::string call =
      fmt::format("cublasLtMatmul by any of {} algorithms", plan.algorithms.size());
  cublaslt::check(status, call.c_str());
  return false;
}

Tensor copied(const Tensor& t) {
  Tensor y = empty(t.sizes(), t.options());
  copy(y, t);
  return y;
}

// Return the matrices, or a copy if BLAS cannot read their layout.
Tensor readable(const Tensor& t) { return blas_layout(Matrices(t)) ? t : copied(t); }

// y [B,M,N] or [M,N] = map(a b + bias [N]); return true if cuBLASLt supports it.
bool product_by_blas(Tensor& y, const Matrices& a, const Matrices& b, const Tensor& bias,
                     std::optional<UnaryOp> map = {}) {
  const int64_t batch = y.dim() == 3 ? y.size(0) : 1;
  const auto left = blas_layout(b.transposed()), right = blas_layout(a.transposed());
  if (!left || !right || batch > INT32_MAX) return false;
  BlasProduct p{.dtype = y.dtype(),
                .batch = batch,
                .rows = b.columns,
                .columns = a.rows,
                .left_layout = *left,
                .right_layout = *right,
                .left_step = b.batch,
                .right_step = a.batch,
                .left = b.data,
                .right = a.data,
                .bias = bias.defined() && bias.is_contiguous() ? bias.data_ptr() : nullptr,
                .y = y.data_ptr(),
                .map = map};
  if ((p.bias || !bias.defined()) && multiply(p)) return true;
  if (!bias.defined() || map) return false;
  // Not every dtype supports a bias epilogue, but all can accumulate into y.
  copy(y, repeated(bias, y));
  p.bias = nullptr;
  p.adds = true;
  return multiply(p);
}

void product(Tensor& y, const Tensor& a, const Tensor& b, bool b_transposed, const Tensor& bias,
             std::optional<UnaryOp> map = {}) {
  const bool real = is_floating_point(y.dtype()) && a.size(-1) > 0;
  const Tensor left = real ? readable(a) : a, right = real ? readable(b) : b;
  const Matrices ma(left), mb = b_transposed ? Matrices(right).transposed() : Matrices(right);
  if (real && map && product_by_blas(y, ma, mb, bias, map)) return;
  if (!real || !product_by_blas(y, ma, mb, bias)) matmul_tiled(y, ma, mb, bias);
  if (map) unary(y, y, *map);
}

}  // namespace

// y [B,M,N], a [B,M,K], b [B,K,N]
void matmul(Tensor& y, const Tensor& a, const Tensor& b) {
  if (y.numel() > 0) product(y, a, b, false, Tensor());
}

// y [M,N], x [M,K], w [N,K], b [N]
void linear(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b) {
  if (y.numel() > 0) product(y, x, w, true, b);
}

// y [M,N], x [M,K], w [N,K], b [N]
void linear_map(Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b,
                const ActivationParams& map) {
  if (y.numel() > 0) product(y, x, w, true, b, map);
}

}  // namespace ambit::cuda
