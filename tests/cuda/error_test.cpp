// What failed calls of CUDA's libraries say.
#include "backends/cuda/driver/error.h"

#include <ambit/error.h>
#include <doctest/doctest.h>

#include <string>

using namespace ambit;

TEST_CASE("a failed call names itself, the code, its text and the place") {
  std::string text;
  const int line = __LINE__ + 2;
  try {
    cuda::throw_failed("cudnnFinalize", "CUDNN_STATUS_BAD_PARAM", 2000, "a bad parameter");
  } catch (const BackendError& e) {
    text = e.what();
  }
  CHECK(text ==
        "cuda: expected cudnnFinalize to succeed, got CUDNN_STATUS_BAD_PARAM (2000): a bad "
        "parameter (error_test.cpp:" +
            std::to_string(line) + ")");
}

TEST_CASE("an error of the runtime is thrown by check, and told to be final where it is") {
  CHECK_NOTHROW(cuda::check(cudaSuccess, "cudaMalloc"));
  const auto text_of = [](cudaError_t status) -> std::string {
    try {
      cuda::check(status, "cudaMemcpyAsync");
    } catch (const BackendError& e) {
      return e.what();
    }
    return "nothing";
  };
  const std::string mild = text_of(cudaErrorInvalidValue), lost = text_of(cudaErrorIllegalAddress);
  CHECK(
      mild.starts_with("cuda: expected cudaMemcpyAsync to succeed, got cudaErrorInvalidValue (1): "
                       "invalid argument"));
  CHECK(mild.find("started again") == std::string::npos);
  CHECK(lost.find("cudaErrorIllegalAddress (700)") != std::string::npos);
  CHECK(lost.find("must be started again") != std::string::npos);
  CHECK_FALSE(cuda::is_sticky(cudaErrorMemoryAllocation));
  CHECK(cuda::is_sticky(cudaErrorAssert));
  CHECK(cuda::is_sticky(static_cast<cudaError_t>(721)));
}
