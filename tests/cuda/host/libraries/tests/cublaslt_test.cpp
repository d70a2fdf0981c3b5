// The emulation of cuBLASLt on memory of the runtime: products compared with the reference backend,
// and its checks.
#include <ambit/ambit.h>
#include <doctest/doctest.h>
#include <stdlib.h>

#include <functional>

#include "cublaslt_call.h"
#include "gpu_array.h"
#include "tests/dies.h"

using namespace ambit;
using namespace host_libraries;

namespace {

struct Shape {
  int64_t batch, m, n, k;
};

// Rows of the tensor are columns of cuBLASLt's matrix, so that memory [batch,columns,rows] is a
// tensor.
Tensor product_of(const Tensor& a, bool a_is_transposed, const Tensor& b, bool b_is_transposed) {
  const auto wide = [](const Tensor& t) { return t.to(Device("reference"), kFloat64); };
  const Tensor left = b_is_transposed ? wide(b).transpose(1, 2) : wide(b);
  const Tensor right = a_is_transposed ? wide(a).transpose(1, 2) : wide(a);
  return matmul(left, right).cpu();  // [batch,n,m]
}

cudaDataType_t type_of(DType dtype) {
  return dtype == kFloat16    ? CUDA_R_16F
         : dtype == kBFloat16 ? CUDA_R_16BF
         : dtype == kFloat64  ? CUDA_R_64F
                              : CUDA_R_32F;
}

// D = alpha op(A) op(B) + beta C of one shape, by every algorithm.
void check_products(const Shape& s, bool a_t, bool b_t, DType dtype, bool tf32) {
  const TensorOptions options = TensorOptions(dtype);
  const Tensor a = randn(a_t ? Dims{s.batch, s.m, s.k} : Dims{s.batch, s.k, s.m}, options);
  const Tensor b = randn(b_t ? Dims{s.batch, s.k, s.n} : Dims{s.batch, s.n, s.k}, options);
  const Tensor c = randn({s.batch, s.n, s.m}, options);
  Product p(static_cast<uint64_t>(s.m), static_cast<uint64_t>(s.n), static_cast<uint64_t>(s.k));
  if (a_t) std::swap(p.a.rows, p.a.columns), p.a.ld = s.k, p.op_a = CUBLAS_OP_T;
  if (b_t) std::swap(p.b.rows, p.b.columns), p.b.ld = s.n, p.op_b = CUBLAS_OP_T;
  const bool wide = dtype == kFloat64, is_16_bit = is_reduced_floating(dtype);
  if (wide) p.compute = CUBLAS_COMPUTE_64F, p.scale = CUDA_R_64F;
  if (is_16_bit) p.schemes = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  if (tf32) p.compute = CUBLAS_COMPUTE_32F_FAST_TF32;
  for (auto* l : {&p.a, &p.b, &p.c, &p.d}) {
    l->batch = static_cast<int32_t>(s.batch);
    l->step = static_cast<int64_t>(l->rows * l->columns);
    l->type = type_of(dtype);
  }
  Call call(p);
  REQUIRE(call.ask() == CUBLAS_STATUS_SUCCESS);
  CHECK(call.found().size() >= (s.k < 32 ? 1 : is_16_bit ? 2 : 3));
  const GpuArray A(a), B(b), C(c), D(c.nbytes());
  constexpr double kAlpha = 1.5, kBeta = -0.25;
  const Tensor exact = product_of(a, a_t, b, b_t) * kAlpha + c.to(kFloat64) * kBeta;
  const double unit = wide ? 0x1p-53 : 0x1p-24;
  // The bound: one rounding for each term and each sum, and with tensor cores half a unit of 11
  // bits for each factor.
  const double relative = static_cast<double>(s.k + 4) * unit + (tf32 ? 2 * 0x1p-11 : 0);
  // float16 and bfloat16 results are also rounded by half a unit in the last place; none is a
  // denormal of float16.
  const Tensor last_place = exact.abs() * (dtype == kFloat16    ? 0x1p-11
                                           : dtype == kBFloat16 ? 0x1p-8
                                                                : 0) +
                            (is_16_bit ? 0x1p-25 : 0);
  const Tensor bound =
      (product_of(a.abs(), a_t, b.abs(), b_t) * kAlpha + c.to(kFloat64).abs() * 0.25) * relative +
      last_place;
  for (const auto& result : call.found()) {
    const GpuArray workspace(result.workspaceSize);
    REQUIRE(call.run(&result.algo, {A.data(), B.data(), C.data(), D.data(), workspace.data(),
                                    result.workspaceSize, kAlpha, kBeta}) == CUBLAS_STATUS_SUCCESS);
    CHECK(worst_ratio(D.read({s.batch, s.n, s.m}, dtype), exact, bound) <= 1);
    if (tf32 && s.k > 8)
      CHECK(worst_ratio(D.read({s.batch, s.n, s.m}, dtype), exact, bound * (1e-4)) > 1);
  }
}

}  // namespace

TEST_CASE("every algorithm of cuBLASLt on the host has the reference's results") {
  for (const Shape s :
       {Shape{1, 1, 1, 1}, Shape{1, 5, 7, 3}, Shape{3, 8, 12, 64}, Shape{2, 33, 4, 40}}) {
    for (const bool a_t : {false, true}) {
      for (const bool b_t : {false, true}) {
        CAPTURE(s.m);
        CAPTURE(a_t);
        CAPTURE(b_t);
        check_products(s, a_t, b_t, kFloat32, false);
        check_products(s, a_t, b_t, kFloat32, true);
        check_products(s, a_t, b_t, kFloat64, false);
        for (const DType dtype : dtypes::kReducedFloating)
          check_products(s, a_t, b_t, dtype, false);
      }
    }
  }
}

TEST_CASE("partial sums that an algorithm stores in bfloat16 are rounded") {
  constexpr int64_t kSize = 8, kTerms = 320;
  // Whole numbers, whose sums are exact in float32.
  const auto numbers = [](IntArrayRef sizes) { return randint(-16, 17, sizes).to(kBFloat16); };
  const Tensor a = numbers({1, kTerms, kSize}), b = numbers({1, kSize, kTerms});
  const GpuArray A(a), B(b), D(kSize * kSize * 2);
  const Tensor once = product_of(a, false, b, false).to(kBFloat16);
  const auto is_rounded_once = [&](uint32_t scheme) {
    Product p(kSize, kSize, kTerms);
    for (auto* l : {&p.a, &p.b, &p.c, &p.d}) l->type = CUDA_R_16BF;
    p.schemes = scheme;
    Call call(p);
    REQUIRE(call.ask() == CUBLAS_STATUS_SUCCESS);
    const auto& best = call.found().front();
    const GpuArray workspace(best.workspaceSize);
    REQUIRE(call.run(&best.algo, {A.data(), B.data(), D.data(), D.data(), workspace.data(),
                                  best.workspaceSize}) == CUBLAS_STATUS_SUCCESS);
    return D.read({1, kSize, kSize}, kBFloat16).equal(once);
  };
  CHECK(is_rounded_once(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  CHECK_FALSE(is_rounded_once(CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE));
  CHECK_FALSE(is_rounded_once(CUBLASLT_REDUCTION_SCHEME_INPLACE));
}

TEST_CASE("epilogues add the bias and apply their activation") {
  constexpr int64_t kM = 6, kN = 5, kK = 7;
  const Tensor a = randn({1, kK, kM}), b = randn({1, kN, kK}), bias = randn({kM});
  const GpuArray A(a), B(b), Bias(bias), D(kN * kM * sizeof(float));
  const Tensor sum = product_of(a, false, b, false);
  const Tensor biased = sum + bias.to(kFloat64);
  const auto gelu_by_tanh = [](const Tensor& x) {
    return x * 0.5 * (tanh((x + x * x * x * 0.044715) * 0.7978845608028654) + 1);
  };
  struct Epilogue {
    cublasLtEpilogue_t name;
    Tensor exact;
  };
  const Epilogue list[] = {{CUBLASLT_EPILOGUE_DEFAULT, sum},
                           {CUBLASLT_EPILOGUE_BIAS, biased},
                           {CUBLASLT_EPILOGUE_RELU, relu(sum)},
                           {CUBLASLT_EPILOGUE_RELU_BIAS, relu(biased)},
                           {CUBLASLT_EPILOGUE_GELU, gelu_by_tanh(sum)},
                           {CUBLASLT_EPILOGUE_GELU_BIAS, gelu_by_tanh(biased)}};
  for (const Epilogue& e : list) {
    CAPTURE(static_cast<int>(e.name));
    Product p(kM, kN, kK);
    p.epilogue = e.name;
    p.bias = Bias.data();
    Call call(p);
    REQUIRE(call.ask() == CUBLAS_STATUS_SUCCESS);
    for (const auto& result : call.found()) {
      REQUIRE(call.run(&result.algo, {A.data(), B.data(), D.data(), D.data()}) ==
              CUBLAS_STATUS_SUCCESS);
      // Sums of 8 terms of magnitude up to about 10; an activation's slope is below 1.2.
      CHECK(worst_ratio(D.read({1, kN, kM}, kFloat32), e.exact, ones({1}, kFloat64) * 1e-5) <= 1);
    }
  }
}

TEST_CASE("invalid products are refused as cuBLASLt documents") {
  const auto status = [](const std::function<void(Product&)>& change, int most = 10) {
    Product p(8, 8, 64);
    change(p);
    return Call(p).ask(most);
  };
  constexpr auto kInvalid = CUBLAS_STATUS_INVALID_VALUE, kNot = CUBLAS_STATUS_NOT_SUPPORTED;
  CHECK(status([](Product&) {}) == CUBLAS_STATUS_SUCCESS);
  CHECK(status([](Product&) {}, 0) == kInvalid);
  CHECK(status([](Product& p) { p.a.rows = 7; }) == kInvalid);
  CHECK(status([](Product& p) { p.b.rows = 63; }) == kInvalid);
  CHECK(status([](Product& p) { p.c.columns = 7; }) == kInvalid);
  CHECK(status([](Product& p) { p.a.ld = 7; }) == kInvalid);
  CHECK(status([](Product& p) { p.a.ld = 0; }) == kInvalid);
  CHECK(status([](Product& p) { p.a.order = CUBLASLT_ORDER_ROW; }) == kInvalid);  // ld < columns
  CHECK(status([](Product& p) { p.a.order = CUBLASLT_ORDER_ROW, p.a.ld = 64; }) ==
        CUBLAS_STATUS_SUCCESS);
  CHECK(status([](Product& p) { p.a.order = CUBLASLT_ORDER_COL32; }) == kNot);
  CHECK(status([](Product& p) { p.a.batch = 2; }) == kInvalid);
  CHECK(status([](Product& p) { p.a.batch = p.b.batch = p.c.batch = p.d.batch = 0; }) == kInvalid);
  CHECK(status([](Product& p) { p.op_a = CUBLAS_OP_T; }) == kInvalid);
  CHECK(status([](Product& p) { p.op_a = 77; }) == kInvalid);
  CHECK(status([](Product& p) { p.op_c = CUBLAS_OP_T; }) == kNot);
  CHECK(status([](Product& p) { p.pointer_mode = CUBLASLT_POINTER_MODE_DEVICE_VECTOR; }) == kNot);
  CHECK(status([](Product& p) { p.scale = CUDA_R_64F; }) == kNot);
  CHECK(status([](Product& p) { p.a.type = CUDA_R_64F; }) == kNot);
  CHECK(status([](Product& p) { p.compute = CUBLAS_COMPUTE_32I; }) == kNot);
  const auto halves = [](Product& p) {
    for (auto* l : {&p.a, &p.b, &p.c, &p.d}) l->type = CUDA_R_16F;
  };
  CHECK(status(halves) == CUBLAS_STATUS_SUCCESS);
  CHECK(status([&](Product& p) { halves(p), p.alignment = 2; }) == CUBLAS_STATUS_SUCCESS);
  CHECK(status([&](Product& p) { halves(p), p.alignment = 1; }) == kInvalid);
  CHECK(status([&](Product& p) { halves(p), p.b.type = CUDA_R_16BF; }) == kNot);
  CHECK(status([&](Product& p) { halves(p), p.scale = CUDA_R_16F; }) == kNot);
  CHECK(status([&](Product& p) { halves(p), p.compute = CUBLAS_COMPUTE_32F_FAST_TF32; }) == kNot);
  CHECK(status([](Product& p) { p.epilogue = 3; }) == kNot);
  CHECK(status([](Product& p) { p.epilogue = CUBLASLT_EPILOGUE_DRELU; }) == kNot);
  CHECK(status([](Product& p) { p.alignment = 2; }) == kInvalid);
  const auto doubles = [](Product& p) {
    p.compute = CUBLAS_COMPUTE_64F, p.scale = CUDA_R_64F;
    for (auto* l : {&p.a, &p.b, &p.c, &p.d}) l->type = CUDA_R_64F;
  };
  CHECK(status(doubles) == CUBLAS_STATUS_SUCCESS);
  CHECK(status([&](Product& p) { doubles(p), p.epilogue = CUBLASLT_EPILOGUE_BIAS; }) == kNot);
}

TEST_CASE("the preference excludes algorithms") {
  const auto found = [](const std::function<void(Product&)>& change) {
    Product p(8, 8, 64);
    change(p);
    Call call(p);
    CHECK(call.ask() == CUBLAS_STATUS_SUCCESS);
    return call.found();
  };
  const auto all = found([](Product& p) { p.most_workspace = uint64_t{1} << 30; });
  const auto usual = found([](Product&) {});
  CHECK(usual.size() == all.size() - 1);  // one algorithm needs 64 MiB
  CHECK(all.front().workspaceSize == size_t{64} << 20);
  for (const auto& result : usual) CHECK(result.workspaceSize <= size_t{32} << 20);
  CHECK(usual.front().workspaceSize > 0);
  for (const auto& result : found([](Product& p) { p.most_workspace = 0; })) {
    CHECK(result.workspaceSize == 0);
  }
  CHECK(found([](Product& p) { p.alignment = 4; }).size() < usual.size());
  CHECK(found([](Product& p) { p.schemes = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE; }).size() ==
        usual.size() - 1);
}

TEST_CASE("a product does not run on memory that its algorithm cannot use") {
  const Tensor a = randn({64, 8}), b = randn({8, 64});
  const GpuArray A(a), B(b), D(64 * 8), shifted(a, 4), workspace(1 << 16);
  Product p(8, 8, 64);
  Call call(p);
  REQUIRE(call.ask() == CUBLAS_STATUS_SUCCESS);
  const auto& best = call.found().front();
  const Call::Memory right{A.data(), B.data(), D.data(), D.data(), workspace.data(), 1 << 16};
  const auto with = [&](const std::function<void(Call::Memory&)>& change) {
    Call::Memory m = right;
    change(m);
    return call.run(&best.algo, m);
  };
  constexpr auto kInvalid = CUBLAS_STATUS_INVALID_VALUE;
  CHECK(with([](Call::Memory&) {}) == CUBLAS_STATUS_SUCCESS);
  CHECK(with([](Call::Memory& m) { m.a = nullptr; }) == kInvalid);
  CHECK(with([&](Call::Memory& m) { m.a = shifted.data(); }) == kInvalid);
  CHECK(with([](Call::Memory& m) { m.workspace_bytes = 16; }) == kInvalid);
  CHECK(with([](Call::Memory& m) { m.workspace = nullptr; }) == kInvalid);
  CHECK(with([](Call::Memory& m) { m.c = nullptr; }) == CUBLAS_STATUS_SUCCESS);
  CHECK(with([](Call::Memory& m) { m.c = nullptr, m.beta = 1; }) == kInvalid);
  cublasLtMatmulAlgo_t none{};
  CHECK(call.run(&none, right) == kInvalid);
  CHECK(call.run(nullptr, right) == CUBLAS_STATUS_SUCCESS);
  Product other(8, 8, 64);
  other.compute = CUBLAS_COMPUTE_32F_FAST_TF32;
  CHECK(Call(other).run(&best.algo, right) == kInvalid);
  Product with_bias(8, 8, 64);
  with_bias.epilogue = CUBLASLT_EPILOGUE_BIAS;
  Call without(with_bias);
  REQUIRE(without.ask() == CUBLAS_STATUS_SUCCESS);
  CHECK(without.run(&without.found().back().algo, right) == kInvalid);
  must(cudaDeviceSynchronize());
}

TEST_CASE("algorithms fail and need more workspace if AMBIT_CUDA_HOST_CUBLASLT says so") {
  const GpuArray A(randn({64, 8})), B(randn({8, 64})), D(64 * 8), workspace(1 << 20);
  setenv("AMBIT_CUDA_HOST_CUBLASLT", "execute:0,workspace:1=1000000", 1);
  Call call(Product(8, 8, 64));
  REQUIRE(call.ask() == CUBLAS_STATUS_SUCCESS);
  CHECK(call.found()[0].workspaceSize != 1000000);
  CHECK(call.found()[1].workspaceSize == 1000000);
  const Call::Memory m{A.data(), B.data(), D.data(), D.data(), workspace.data(), 1 << 20};
  CHECK(call.run(&call.found()[0].algo, m) == CUBLAS_STATUS_EXECUTION_FAILED);
  CHECK(call.run(&call.found()[1].algo, m) == CUBLAS_STATUS_SUCCESS);
  unsetenv("AMBIT_CUDA_HOST_CUBLASLT");
  CHECK(call.run(&call.found()[0].algo, m) == CUBLAS_STATUS_SUCCESS);
  must(cudaDeviceSynchronize());
}

TEST_CASE("cuBLASLt on the host ends the process at errors that the real library does not detect") {
  const auto ends = [](const char* child, const char* word) {
    check_dies(child, {word}, "AMBIT_CUDA_HOST=2");
  };
  ends("child: a product over its factor", "overlaps");
  ends("child: a batch of products at one place", "lie apart");
  ends("child: a bias less aligned than at the heuristic", "bias");
  ends("child: a leading dim beyond the memory", "out of the bounds of memory, in cublasLtMatmul");
  ends("child: a factor never written", "never written, in cublasLtMatmul");
  ends("child: a layout used after its end", "destroyed");
  ends("child: a product on the GPU of another handle", "stream of the handle's device");
}

namespace {

void run_wrongly(const std::function<void(Call::Memory&)>& spoil,
                 const Product& p = Product(8, 8, 64)) {
  const GpuArray A(randn({64, 8})), B(randn({8, 64})), D(64 * 8 * 2), workspace(1 << 16);
  Call call(p);
  call.ask();
  Call::Memory m{A.data(), B.data(), D.data(), D.data(), workspace.data(), 1 << 16};
  spoil(m);
  call.run(&call.found().at(0).algo, m);
  must(cudaDeviceSynchronize());
}

}  // namespace

TEST_CASE("child: a product over its factor" * doctest::skip()) {
  run_wrongly([](Call::Memory& m) { m.d = const_cast<void*>(m.a); });
}
TEST_CASE("child: a batch of products at one place" * doctest::skip()) {
  Product p(8, 8, 8);
  for (auto* l : {&p.a, &p.b, &p.c, &p.d}) l->batch = 2;
  run_wrongly([](Call::Memory&) {}, p);
}
TEST_CASE("child: a bias less aligned than at the heuristic" * doctest::skip()) {
  const GpuArray bias(randn({16}));
  Product p(8, 8, 64);
  p.epilogue = CUBLASLT_EPILOGUE_BIAS;
  p.bias = bias.data();
  Call call(p);
  call.ask();
  call.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const float*>(bias.data()) + 1);
  const GpuArray A(randn({64, 8})), B(randn({8, 64})), D(64 * 8), workspace(1 << 16);
  call.run(&call.found().at(0).algo,
           {A.data(), B.data(), D.data(), D.data(), workspace.data(), 1 << 16});
}
TEST_CASE("child: a leading dim beyond the memory" * doctest::skip()) {
  Product p(8, 8, 64);
  p.a.ld = 9;
  run_wrongly([](Call::Memory&) {}, p);
}
TEST_CASE("child: a factor never written" * doctest::skip()) {
  const GpuArray raw(64 * 8 * sizeof(float));
  run_wrongly([&](Call::Memory& m) { m.b = raw.data(); });
}
TEST_CASE("child: a layout used after its end" * doctest::skip()) {
  cublasLtMatrixLayout_t layout = nullptr;
  lt().make_layout(&layout, CUDA_R_32F, 1, 1, 1);
  lt().destroy_layout(layout);
  lt().destroy_layout(layout);
}
TEST_CASE("child: a product on the GPU of another handle" * doctest::skip()) {
  lt_handle();
  must(cudaSetDevice(1));
  run_wrongly([](Call::Memory&) {});
}
