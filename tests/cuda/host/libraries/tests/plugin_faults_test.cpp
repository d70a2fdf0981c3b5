// The plugin where plans of cuDNN and algorithms of cuBLASLt fail when they are run, or find no
// room for their workspace: the next ones are tried, and results are right.
#include <ambit/ambit.h>
#include <ambit/error.h>
#include <doctest/doctest.h>

#include "api.h"
#include "gpu_array.h"
#include "tests/child_process.h"

using namespace ambit;
using namespace host_libraries;

namespace {

// Run a hidden case with the plugin on the host's runtime, and with faults.
void check_with(const std::string& child, const std::string& faults) {
  const ChildResult result = run_child(
      child, "AMBIT_SIM=sim:1 AMBIT_BACKEND_PATH=" + folder_of_emulations() + " " + faults);
  CAPTURE(faults);
  INFO(result.output);
  CHECK(result.exit_code == 0);
  CHECK(result.output.find("1 passed") != std::string::npos);
}

void check_close(const Tensor& ours, const Tensor& exact, int64_t terms) {
  // A rounding for each of the terms, which are products of two numbers of size up to 5.
  const double bound = static_cast<double>(terms + 3) * 25 * 0x1p-24;
  CHECK(worst_ratio(ours.cpu(), exact, ones({1}, TensorOptions(kFloat64)) * bound) <= 1);
}

}  // namespace

TEST_CASE("where a plan of a convolution fails or has no room, the next one is tried") {
  constexpr auto kChild = "child: convolutions on cuda";
  check_with(kChild, "");
  check_with(kChild, "AMBIT_CUDA_HOST_CUDNN=execute:0");
  check_with(kChild, "AMBIT_CUDA_HOST_CUDNN=execute:0,execute:1");
  check_with(kChild, "AMBIT_CUDA_HOST_CUDNN=workspace:0=4000000000");
  check_with(kChild, "AMBIT_CUDA_HOST_CUDNN=workspace:0=900000000 AMBIT_CUDA_HOST_MEMORY=256");
}
TEST_CASE("child: convolutions on cuda" * doctest::skip()) {
  const Device gpu("cuda:0"), host("reference");
  const Conv2dParams params{.stride = {2, 1}, .padding = {1, 1}};
  for (int again = 0; again < 2; ++again) {  // the second time by what worked the first
    const Tensor x = randn({2, 3, 8, 8}), w = randn({4, 3, 3, 3}), b = randn({4});
    const Tensor y = conv2d(x.to(host), w.to(host), b.to(host), params);
    const auto on = [&](const Tensor& t) { return t.to(gpu); };
    check_close(conv2d(on(x), on(w), on(b), params), y, 28);
    check_close(conv2d_input_grad(on(y), on(w), x.sizes(), params),
                conv2d_input_grad(y, w.to(host), x.sizes(), params), 36 * 10);
    check_close(conv2d_weight_grad(on(y), on(x), w.sizes(), params),
                conv2d_weight_grad(y, x.to(host), w.sizes(), params), 64 * 10);
  }
}

TEST_CASE("where an algorithm of a product fails or has no room, the next one is tried") {
  constexpr auto kChild = "child: products on cuda";
  check_with(kChild, "");
  check_with(kChild, "AMBIT_CUDA_HOST_CUBLASLT=execute:0");
  check_with(kChild, "AMBIT_CUDA_HOST_CUBLASLT=execute:0,execute:1");
  check_with(kChild, "AMBIT_CUDA_HOST_CUBLASLT=workspace:0=900000000 AMBIT_CUDA_HOST_MEMORY=256");
}
TEST_CASE("child: products on cuda" * doctest::skip()) {
  const Device gpu("cuda:0"), host("reference");
  for (int again = 0; again < 2; ++again) {
    const Tensor x = randn({16, 64}), w = randn({8, 64}), b = randn({8});
    check_close(linear(x.to(gpu), w.to(gpu), b.to(gpu)), linear(x.to(host), w.to(host), b.to(host)),
                65);
    check_close(matmul(x.to(gpu), w.to(gpu).transpose(0, 1)),
                matmul(x.to(host), w.to(host).transpose(0, 1)), 64);
  }
}

TEST_CASE("where all plans fail, the error names the call") {
  check_with("child: nothing works on cuda",
             "'AMBIT_CUDA_HOST_CUDNN=execute:*' 'AMBIT_CUDA_HOST_CUBLASLT=execute:*'");
}
TEST_CASE("child: nothing works on cuda" * doctest::skip()) {
  const Device gpu("cuda:0");
  const auto text_of = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const BackendError& e) {
      return e.what();
    }
    return "nothing";
  };
  const Tensor x = ones({2, 3, 8, 8}, gpu), w = ones({4, 3, 3, 3}, gpu), a = ones({4, 64}, gpu);
  const std::string conv = text_of([&] { conv2d(x, w); });
  const std::string product = text_of([&] { matmul(a, a.transpose(0, 1)); });
  CAPTURE(conv);
  CAPTURE(product);
  CHECK(conv.find("cudnnBackendExecute") != std::string::npos);
  CHECK(conv.find("CUDNN_STATUS_EXECUTION_FAILED") != std::string::npos);
  CHECK(product.find("cublasLtMatmul") != std::string::npos);
  CHECK(product.find("CUBLAS_STATUS_EXECUTION_FAILED") != std::string::npos);
}
