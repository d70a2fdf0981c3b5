// Failing plans, workspaces that do not fit, and a lost GPU, simulated by CUDA on the host. Each
// case runs in its own process, since the settings are read once.
#include <ambit/ambit.h>
#include <ambit/backend/registry.h>
#include <doctest/doctest.h>

#include <cstdio>
#include <string>
#include <thread>

#include "has_gpu.h"
#include "tests/child_process.h"

using namespace ambit;

namespace {

bool is_on_host() {
  if (!has_gpu()) return false;
  if (backend_of(Device("cuda")).properties(0).name.starts_with("CUDA on the host")) return true;
  MESSAGE("a real GPU: nothing was run");
  return false;
}

void expect_close(const Tensor& got, const Tensor& want) {
  // Sums of up to 72 products of numbers of about 1, each rounded to float32.
  CHECK((got.cpu() - want).abs().max().item<float>() < 1e-4f);
}

ChildResult child(const std::string& name, const std::string& settings) {
  ChildResult ran = run_child("child: " + name, "AMBIT_CUDA_HOST=1 " + settings);
  INFO(settings);
  INFO(ran.output);
  CHECK(ran.signal == 0);
  return ran;
}

bool passed(const ChildResult& ran) {
  return ran.exit_code == 0 && ran.output.find("1 passed") != std::string::npos;
}

}  // namespace

TEST_CASE("child: products and convolutions" * doctest::skip()) {
  const Device gpu("cuda");
  const Tensor x = randn({5, 72}), w = randn({8, 72}), b = randn({8});
  const Tensor images = randn({2, 8, 6, 6}), filters = randn({4, 8, 3, 3}), bias = randn({4});
  const ConvParams params{.stride = {2, 1}, .padding = {1, 0}};
  const Tensor dy = randn({2, 4, 3, 4});
  for (int i = 0; i < 3; ++i) {  // a failed plan is not tried again
    expect_close(nn::functional::linear(x.to(gpu), w.to(gpu), b.to(gpu)),
                 nn::functional::linear(x, w, b));
    expect_close(x.to(gpu).matmul(w.to(gpu).t()), x.matmul(w.t()));
    const Tensor there = images.to(gpu).requires_grad_(), here = images.clone().requires_grad_();
    const Tensor weight_there = filters.to(gpu).requires_grad_(),
                 weight_here = filters.clone().requires_grad_();
    const Tensor y_there = conv2d(there, weight_there, bias.to(gpu), params),
                 y_here = conv2d(here, weight_here, bias, params);
    expect_close(y_there.detach(), y_here.detach());
    (y_there * dy.to(gpu)).sum().backward();
    (y_here * dy).sum().backward();
    expect_close(there.grad(), here.grad());
    expect_close(weight_there.grad(), weight_here.grad());
  }
}

TEST_CASE("child: a convolution with a relu" * doctest::skip()) {
  const Device gpu("cuda");
  const Tensor x = randn({2, 8, 6, 6}), w = randn({8, 1, 3, 3}), b = randn({8});
  const ConvParams params{.groups = 8};
  for (int i = 0; i < 2; ++i) {
    expect_close(convolution_map(x.to(gpu), w.to(gpu), b.to(gpu), params, UnaryOp::relu),
                 relu(conv2d(x, w, b, params)));
  }
}

TEST_CASE("child: float16 convolutions with more plans in one layout" * doctest::skip()) {
  const auto numbers = [](IntArrayRef sizes) { return randint(-3, 4, sizes).to(kHalf); };
  const auto check = [&](const Tensor& x, const Tensor& there, const Tensor& w,
                         const ConvParams& params) {
    // Sums of up to 72 products of up to 9, within the range of float16.
    const Tensor y = conv2d(x.to(kFloat32), w.to(kFloat32), Tensor(), params);
    CHECK(conv2d(there, w.to("cuda"), Tensor(), params).cpu().equal(y.to(kHalf)));
  };
  const Tensor rows = numbers({2, 3, 4, 16}), channels = numbers({2, 64, 5, 5});
  check(rows, rows.to("cuda"), numbers({4, 3, 1, 8}), {.stride = {1, 2}, .padding = {0, 3}});
  const Tensor filters = numbers({8, 8, 3, 3});
  check(channels, channels.to("cuda"), filters, {.groups = 8});
  // The view does not begin at the first element of its allocation, so it is aligned only to the
  // element size.
  const Tensor memory = zeros({channels.numel() + 1}, TensorOptions(kHalf).device("cuda"));
  const Tensor later = memory.narrow(0, 1, channels.numel()).view(channels.sizes());
  later.copy_(channels);
  check(channels, later, filters, {.groups = 8});
}

TEST_CASE("child: errors of a product and a convolution" * doctest::skip()) {
  const Device gpu("cuda");
  const auto report = [](const char* what, const auto& call) {
    try {
      call();
      std::printf("%s: nothing\n", what);
    } catch (const OutOfMemoryError& e) {
      std::printf("%s: OutOfMemoryError %s\n", what, e.what());
    } catch (const BackendError& e) {
      std::printf("%s: BackendError %s\n", what, e.what());
    }
  };
  const Tensor x = ones({5, 72}, gpu), w = ones({7, 72}, gpu);
  const Tensor images = ones({2, 8, 6, 6}, gpu), filters = ones({4, 8, 3, 3}, gpu);
  report("product", [&] { x.matmul(w.t()); });
  report("convolution", [&] { conv2d(images, filters); });
  CHECK(x.sum().item<float>() == 360);  // the device remains usable
}

TEST_CASE("host: if a plan fails, or has no memory for its workspace, the next one runs") {
  if (!is_on_host()) return;
  const std::string memory = "AMBIT_CUDA_HOST_MEMORY=200 ";
  for (const std::string faults : {"execute:0", "workspace:0=1000000000", "execute:0,execute:1",
                                   "workspace:0=1000000000,execute:1"}) {
    CHECK(passed(child("products and convolutions", memory + "AMBIT_CUDA_HOST_CUDNN=" + faults)));
  }
  for (const std::string faults : {"execute:0", "workspace:0=1000000000", "execute:0,execute:1"}) {
    CHECK(
        passed(child("products and convolutions", memory + "AMBIT_CUDA_HOST_CUBLASLT=" + faults)));
  }
}

TEST_CASE("host: a convolution runs without a relu if no plan with a relu works or fits") {
  if (!is_on_host()) return;
  // There are three plans with it, and five without.
  for (const std::string fault : {"execute:", "workspace:"}) {
    const std::string end = fault == "workspace:" ? "=1000000000" : "";
    std::string faults;
    for (const char* rank : {"0", "1", "2"}) faults += fault + rank + end + ",";
    CHECK(passed(child("a convolution with a relu",
                       "AMBIT_CUDA_HOST_MEMORY=200 AMBIT_CUDA_HOST_CUDNN=" + faults)));
  }
}

TEST_CASE("host: if no plan of a layout works, those of the other layout run") {
  if (!is_on_host()) return;
  // Vectors of 16 bytes extend along rows or along channels, so two or none of the six plans
  // remain.
  CHECK(passed(child("float16 convolutions with more plans in one layout",
                     "AMBIT_CUDA_HOST_CUDNN=execute:0,execute:1,execute:2,execute:3")));
}

TEST_CASE("host: if no plan works, the error says how many failed, or that memory is missing") {
  if (!is_on_host()) return;
  const std::string failed =
      child("errors of a product and a convolution",
            "AMBIT_CUDA_HOST_CUDNN='execute:*' AMBIT_CUDA_HOST_CUBLASLT='execute:*'")
          .output;
  INFO(failed);
  CHECK(failed.find("product: BackendError matmul: expected cublasLtMatmul by any of ") !=
        std::string::npos);
  CHECK(failed.find(
            "convolution: BackendError convolution: expected cudnnBackendExecute of any of ") !=
        std::string::npos);
  for (const char* status : {"CUBLAS_STATUS_EXECUTION_FAILED", "CUDNN_STATUS_EXECUTION_FAILED"}) {
    CHECK(failed.find(status) != std::string::npos);
  }
  CHECK(failed.find("1 passed") != std::string::npos);
  const std::string full =
      child("errors of a product and a convolution",
            "AMBIT_CUDA_HOST_MEMORY=200 AMBIT_CUDA_HOST_CUDNN='workspace:*=1000000000'")
          .output;
  INFO(full);
  CHECK(full.find("convolution: OutOfMemoryError allocate: expected 1000000000 bytes") !=
        std::string::npos);
  CHECK(full.find("1 passed") != std::string::npos);
}

TEST_CASE("child: a launch that fails permanently" * doctest::skip()) {
  const Device gpu("cuda");
  const auto text_of = [&] {
    try {
      const Tensor x = ones({3}, gpu);
      for (int i = 0; i < 100; ++i) x.add_(1);
      synchronize(gpu);
    } catch (const BackendError& e) {
      return std::string(e.what());
    }
    return std::string("nothing");
  };
  CHECK(text_of().find("start it again") != std::string::npos);
  std::thread([&] { CHECK(text_of().find("start it again") != std::string::npos); }).join();
  CHECK(text_of().find("start it again") != std::string::npos);
}

TEST_CASE("host: after a sticky error every thread gets the advice to restart the process") {
  if (!is_on_host()) return;
  CHECK(passed(child("a launch that fails permanently", "AMBIT_CUDA_HOST_FAIL_LAUNCH=20")));
}
