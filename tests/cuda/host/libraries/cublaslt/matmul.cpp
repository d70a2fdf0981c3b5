// cublasLtMatmul: the checks at the call, and the product as work of the stream.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>

#include "heuristic.h"
#include "tests/cuda/host/libraries/faults.h"
#include "tests/cuda/host/queue.h"

namespace ambit::cuda::host::cublaslt {
namespace {

/// A call, with everything that the library reads before it returns.
struct Product {
  Problem problem;
  Algorithm algorithm;
  double alpha, beta;
  Operand a, b, c, d;
  void* workspace;
};

// GELU computed by tanh, as in cuBLASLt's epilogue.
float gelu(float x) {
  constexpr float kRoot = 0.7978845608f;  // sqrt(2 / pi)
  return 0.5f * x * (1 + std::tanh(kRoot * (x + 0.044715f * x * x * x)));
}

// sum [n,m] += op(A) [k,m] op(B) [n,k] over [first,last) of k, for one element of the batch.
template <class T>
void add_products(const Problem& p, const T* a, const T* b, int64_t first, int64_t last, T* sum) {
  for (int64_t j = 0; j < p.n; ++j) {
    T* column = sum + j * p.m;
    for (int64_t s = first; s < last; ++s) {
      const T factor = b[j * p.k + s];
      const T* line = a + s * p.m;
      for (int64_t i = 0; i < p.m; ++i) column[i] += line[i] * factor;
    }
  }
}

// The order in which parts of a sum are added.
std::vector<int> order_of_parts(Sum sum) {
  std::vector<int> order(sum == Sum::whole ? 1 : kParts);
  std::iota(order.begin(), order.end(), 0);
  if (sum != Sum::in_place) return order;
  for (size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[random_below(static_cast<unsigned>(i))]);
  }
  return order;
}

template <class T>
void apply_epilogue(const Problem& p, const T* bias, T* y) {
  for (int64_t j = 0; j < p.n; ++j) {
    for (int64_t i = 0; i < p.m; ++i) {
      T& value = y[j * p.m + i];
      if (bias) value += bias[i];
      if (p.has_relu()) value = value > 0 ? value : T{0};  // NaN becomes 0, as with fmax
      if (p.has_gelu()) value = static_cast<T>(gelu(static_cast<float>(value)));
    }
  }
}

// Transpose the matrices, so that the inner loop runs along m.
Operand transposed(Operand o) {
  std::swap(o.sizes[1], o.sizes[2]);
  std::swap(o.strides[1], o.strides[2]);
  return o;
}

template <class T>
std::vector<T> load_factors(const Product& call, const Operand& o) {
  std::vector<T> values = load<T>(transposed(o));
  if constexpr (sizeof(T) == sizeof(float)) {
    if (call.problem.tf32) {
      std::transform(values.begin(), values.end(), values.begin(), round_to_tf32);
    }
  }
  return values;
}

// Round a partial sum as the algorithm stores it.
template <class T>
T kept(const Product& call, T x, Sum by) {
  return call.algorithm.sum == by ? rounded(x, call.problem.element) : x;
}

template <class T>
void multiply(const Product& call) {
  const Problem& p = call.problem;
  const std::vector<T> a = load_factors<T>(call, call.a), b = load_factors<T>(call, call.b);
  std::vector<T> y(static_cast<size_t>(p.batch * p.m * p.n)), sum, bias;
  if (call.beta != 0) y = load<T>(transposed(call.c));
  if (p.has_bias()) {
    bias = load<T>({const_cast<void*>(p.bias), p.element, {p.batch, p.m}, {p.bias_stride, 1}});
  }
  scribble(call.workspace, static_cast<size_t>(call.algorithm.workspace_bytes));
  const std::vector<int> order = order_of_parts(call.algorithm.sum);
  const auto parts = static_cast<int64_t>(order.size());
  for (int64_t matrix = 0; matrix < p.batch; ++matrix) {
    T* to = y.data() + matrix * p.m * p.n;
    for (int64_t i = 0; i < p.m * p.n; ++i) to[i] *= static_cast<T>(call.beta);
    for (const int part : order) {
      sum.assign(static_cast<size_t>(p.m * p.n), T{0});
      add_products(p, a.data() + matrix * p.m * p.k, b.data() + matrix * p.k * p.n,
                   p.k * part / parts, p.k * (part + 1) / parts, sum.data());
      for (size_t i = 0; i < sum.size(); ++i) {
        to[i] = kept(call, to[i] + static_cast<T>(call.alpha) * kept(call, sum[i], Sum::rounded),
                     Sum::in_place);
      }
    }
    apply_epilogue(p, bias.empty() ? nullptr : bias.data() + matrix * p.m, to);
  }
  store(transposed(call.d), y);
}

bool is_aligned(const void* p, size_t bytes) { return reinterpret_cast<uintptr_t>(p) % bytes == 0; }

// Return the error of a call's memory, if any.
cublasStatus_t check_memory(const Product& call, size_t workspace_bytes) {
  const Problem& p = call.problem;
  const Algorithm& algorithm = call.algorithm;
  const auto own = static_cast<size_t>(algorithm.workspace_bytes);
  if (!call.a.data || !call.b.data || !call.d.data) return CUBLAS_STATUS_INVALID_VALUE;
  if (call.beta != 0 && !call.c.data) return CUBLAS_STATUS_INVALID_VALUE;
  if (p.has_bias() && !p.bias) return CUBLAS_STATUS_INVALID_VALUE;
  for (const Operand* o : {&call.a, &call.b, &call.c, &call.d}) {
    if (!is_aligned(o->data, algorithm.alignment)) return CUBLAS_STATUS_INVALID_VALUE;
  }
  constexpr size_t kWorkspaceAlignment = 256;
  if (own > workspace_bytes || (own > 0 && !call.workspace)) return CUBLAS_STATUS_INVALID_VALUE;
  if (own > 0 && !is_aligned(call.workspace, kWorkspaceAlignment)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (call.c.data == call.d.data && p.c.strides != p.d.strides) return CUBLAS_STATUS_INVALID_VALUE;
  // The library does not detect these errors, but its kernels would give wrong results.
  if (p.has_bias() && !is_aligned(p.bias, algorithm.bias_alignment)) {
    misuse("cublasLtMatmul: expected a bias aligned as it was at the heuristic");
  }
  expect_no_overlap("cublasLtMatmul", call.d);
  expect_apart("cublasLtMatmul", call.d, call.a);
  expect_apart("cublasLtMatmul", call.d, call.b);
  if (call.beta != 0 && call.c.data != call.d.data) {
    expect_apart("cublasLtMatmul", call.d, call.c);
  }
  return CUBLAS_STATUS_SUCCESS;
}

// Return the algorithm of a heuristic's result; for null the first suitable one.
std::optional<Algorithm> chosen(const cublasLtMatmulAlgo_t* algo, const Problem& p,
                                size_t workspace_bytes) {
  if (!algo) {
    const auto alignment = static_cast<uint32_t>(p.element_bytes());
    const Limits limits{static_cast<int64_t>(workspace_bytes), CUBLASLT_REDUCTION_SCHEME_MASK,
                        alignment, alignment};
    return algorithms_for(p, limits).front();
  }
  Algorithm algorithm;
  std::memcpy(&algorithm, algo, sizeof(algorithm));
  const bool fits =
      algorithm.magic == Algorithm::kMagic && algorithm.fingerprint == p.fingerprint();
  return fits ? std::optional(algorithm) : std::nullopt;
}

double scalar(const void* value, const Problem& p) {
  return p.is_double() ? *static_cast<const double*>(value)
                       : static_cast<double>(*static_cast<const float*>(value));
}

cublasStatus_t queue(const Product& call, cudaStream_t stream) {
  const auto work = [call] {
    call.problem.is_double() ? multiply<double>(call) : multiply<float>(call);
  };
  const cudaError_t error = enqueue(stream, "cublasLtMatmul", work);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace
}  // namespace ambit::cuda::host::cublaslt

using namespace ambit::cuda::host;
using namespace ambit::cuda::host::cublaslt;

extern "C" cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                         const void* alpha, const void* a,
                                         cublasLtMatrixLayout_t a_layout, const void* b,
                                         cublasLtMatrixLayout_t b_layout, const void* beta,
                                         const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                                         cublasLtMatrixLayout_t d_layout,
                                         const cublasLtMatmulAlgo_t* algo, void* workspace,
                                         size_t workspace_bytes, cudaStream_t stream) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (handles().get(handle).device != device_of(stream)) {
    misuse("cublasLtMatmul: expected a stream of the handle's device");
  }
  Problem p;
  const cublasStatus_t status = read_problem(desc, {a_layout, b_layout, c_layout, d_layout}, p);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  if (!alpha || !beta) return CUBLAS_STATUS_INVALID_VALUE;
  const std::optional<Algorithm> algorithm = chosen(algo, p, workspace_bytes);
  if (!algorithm) return CUBLAS_STATUS_INVALID_VALUE;
  const Product call{p,
                     *algorithm,
                     scalar(alpha, p),
                     scalar(beta, p),
                     p.a.at(a, p.element),
                     p.b.at(b, p.element),
                     p.c.at(c, p.element),
                     p.d.at(d, p.element),
                     workspace};
  const cublasStatus_t memory = check_memory(call, workspace_bytes);
  if (memory != CUBLAS_STATUS_SUCCESS) return memory;
  if (Faults("AMBIT_CUDA_HOST_CUBLASLT").fails(algorithm->rank)) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return queue(call, stream);
}
