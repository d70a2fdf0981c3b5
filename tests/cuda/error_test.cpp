// Errors of failed calls of CUDA's libraries.
#include "backends/cuda/driver/error.h"

#include <ambit/error.h>
#include <doctest/doctest.h>

#include <string>

using namespace ambit;

TEST_CASE("the error of a failed call has the call, the code, its text and the source location") {
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

TEST_CASE("check() throws an error of the runtime, and says if it is sticky") {
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
  CHECK(mild.find("start it again") == std::string::npos);
  CHECK(lost.find("cudaErrorIllegalAddress (700)") != std::string::npos);
  CHECK(lost.find("start it again") != std::string::npos);
  CHECK_FALSE(cuda::is_sticky(cudaErrorMemoryAllocation));
  CHECK(cuda::is_sticky(cudaErrorAssert));
  CHECK(cuda::is_sticky(static_cast<cudaError_t>(721)));
}
