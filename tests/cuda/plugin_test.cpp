// The plugin without a usable GPU: it loads, reports the reason, and has its kernels.
#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>
#include <ambit/error.h>
#include <ambit/plugins.h>
#include <doctest/doctest.h>

#include <string>

#include "tests/child_process.h"

using namespace ambit;

namespace {

std::string result_of_cuda() {
  for (const LoadAttempt& attempt : load_report()) {
    if (attempt.file.ends_with("libambit_cuda.so")) {
      CHECK(attempt.loaded);
      return attempt.result;
    }
  }
  return "not tried";
}

}  // namespace

// CUDA reads the variable, which hides GPUs, once, so each case is a separate process.
TEST_CASE("without a GPU the plugin loads, has no devices and says why") {
  const ChildResult child =
      run_child("child: cuda without a GPU", "CUDA_VISIBLE_DEVICES= AMBIT_SIM=npu:1");
  INFO(child.output);
  CHECK(child.exit_code == 0);
  CHECK(child.output.find("1 passed") != std::string::npos);
}
TEST_CASE("child: cuda without a GPU" * doctest::skip()) {
  CHECK(device_count("cuda") == 0);
  CHECK_FALSE(cuda::is_available());
  CHECK(best_device().type() != "cuda");
  const std::string result = result_of_cuda();
  INFO(result);
  CHECK(result.starts_with("cuda: 0 devices, "));
  const bool no_driver = result.find("expected the NVIDIA driver, got none") != std::string::npos;
  const bool hidden = result.find("CUDA_VISIBLE_DEVICES") != std::string::npos;
  CHECK((no_driver || hidden));
  try {
    ones({2}, Device("cuda"));
    FAIL("a tensor on a GPU that is not there");
  } catch (const BackendError& e) {
    const std::string text = e.what();
    CHECK(text.starts_with("expected an existing cuda device, got cuda:0: there are 0, "));
    CHECK(text.ends_with(result.substr(result.find(", "))));
  }
}

TEST_CASE("cuda has its own kernel for every op except eig, fft_pairs and fft_real") {
  const ChildResult child =
      run_child("child: kernels of cuda", "CUDA_VISIBLE_DEVICES= AMBIT_SIM=npu:1");
  INFO(child.output);
  CHECK(child.exit_code == 0);
  CHECK(child.output.find("1 passed") != std::string::npos);
}
TEST_CASE("child: kernels of cuda" * doctest::skip()) {
  const DeviceKind cuda_kind = Device("cuda").kind();
  for (const OpBase* op : all_ops()) {
    CAPTURE(std::string(op->name()));
    const bool is_on_host =
        op == &kernels::eig || op == &kernels::fft_pairs || op == &kernels::fft_real;
    CHECK(op->has_kernel(cuda_kind) == !is_on_host);
  }
}
