// Compares the emulation of cuBLASLt with the real library. Without a GPU that creates no handles,
// so only descriptors, sizes of attributes, and texts of statuses are compared.
#include <doctest/doctest.h>

#include <array>

#include "api.h"

using namespace host_libraries;

namespace {

struct Both {
  const CublasLtApi &real = real_cublaslt(), &ours = emulated_cublaslt();

  // Return true if the real library is there.
  bool are_there() const {
    if (!real.library.is_there()) MESSAGE("skipped: no cuBLASLt");
    return real.library.is_there();
  }
  template <class Call>
  void check(const Call& call) const {
    CHECK(call(ours) == call(real));
  }
};

}  // namespace

TEST_CASE("statuses have the names and texts of the real cuBLASLt") {
  const Both both;
  if (!both.are_there()) return;
  for (int i = 0; i < 20; ++i) {
    const auto status = static_cast<cublasStatus_t>(i);
    both.check([&](const CublasLtApi& a) { return std::string(a.status_name(status)); });
    both.check([&](const CublasLtApi& a) { return std::string(a.status_string(status)); });
  }
}

TEST_CASE("attributes have the sizes of the real cuBLASLt") {
  const Both both;
  if (!both.are_there()) return;
  const std::array<char, 16> zeros{};
  for (int name = -1; name < 50; ++name) {
    CAPTURE(name);
    for (const size_t bytes : {size_t{0}, size_t{1}, size_t{2}, size_t{4}, size_t{8}, size_t{16}}) {
      CAPTURE(bytes);
      for (const void* value :
           {static_cast<const void*>(zeros.data()), static_cast<const void*>(nullptr)}) {
        both.check([&](const CublasLtApi& a) {
          cublasLtMatmulDesc_t d = nullptr;
          a.make_desc(&d, CUBLAS_COMPUTE_32F, CUDA_R_32F);
          const cublasStatus_t s =
              a.set_desc(d, static_cast<cublasLtMatmulDescAttributes_t>(name), value, bytes);
          a.destroy_desc(d);
          return s;
        });
        both.check([&](const CublasLtApi& a) {
          cublasLtMatrixLayout_t d = nullptr;
          a.make_layout(&d, CUDA_R_32F, 4, 3, 4);
          const cublasStatus_t s =
              a.set_layout(d, static_cast<cublasLtMatrixLayoutAttribute_t>(name), value, bytes);
          a.destroy_layout(d);
          return s;
        });
        both.check([&](const CublasLtApi& a) {
          cublasLtMatmulPreference_t d = nullptr;
          a.make_preference(&d);
          const cublasStatus_t s = a.set_preference(
              d, static_cast<cublasLtMatmulPreferenceAttributes_t>(name), value, bytes);
          a.destroy_preference(d);
          return s;
        });
      }
    }
  }
}

TEST_CASE("descriptors are created, refused and destroyed as by the real cuBLASLt") {
  const Both both;
  if (!both.are_there()) return;
  both.check([](const CublasLtApi& a) { return a.create(nullptr); });
  both.check(
      [](const CublasLtApi& a) { return a.make_desc(nullptr, CUBLAS_COMPUTE_32F, CUDA_R_32F); });
  both.check([](const CublasLtApi& a) { return a.make_layout(nullptr, CUDA_R_32F, 1, 1, 1); });
  both.check([](const CublasLtApi& a) { return a.make_preference(nullptr); });
  both.check([](const CublasLtApi& a) { return a.destroy_desc(nullptr); });
  both.check([](const CublasLtApi& a) { return a.destroy_layout(nullptr); });
  both.check([](const CublasLtApi& a) { return a.destroy_preference(nullptr); });
  // Invalid values are not detected before a product is requested.
  struct Layout {
    uint64_t rows, columns;
    int64_t ld;
  };
  for (const Layout l : {Layout{4, 3, 2}, Layout{0, 3, 4}, Layout{4, 3, 0}, Layout{4, 3, -4}}) {
    both.check([&](const CublasLtApi& a) {
      cublasLtMatrixLayout_t d = nullptr;
      const cublasStatus_t s = a.make_layout(&d, CUDA_R_32F, l.rows, l.columns, l.ld);
      a.destroy_layout(d);
      return s;
    });
  }
  both.check([](const CublasLtApi& a) {
    const int32_t value = 0;
    return a.set_desc(nullptr, CUBLASLT_MATMUL_DESC_TRANSA, &value, sizeof(value));
  });
  // Without a handle nothing else is checked.
  both.check([](const CublasLtApi& a) {
    cublasLtMatmulDesc_t d = nullptr;
    cublasLtMatrixLayout_t l = nullptr;
    cublasLtMatmulPreference_t p = nullptr;
    a.make_desc(&d, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    a.make_layout(&l, CUDA_R_32F, 4, 4, 4);
    a.make_preference(&p);
    cublasLtMatmulHeuristicResult_t result;
    int count = 0;
    float memory = 1;
    const cublasStatus_t asked = a.heuristic(nullptr, d, l, l, l, l, p, 1, &result, &count);
    const cublasStatus_t run = a.matmul(nullptr, d, &memory, &memory, l, &memory, l, &memory,
                                        &memory, l, &memory, l, nullptr, nullptr, 0, nullptr);
    a.destroy_desc(d);
    a.destroy_layout(l);
    a.destroy_preference(p);
    return std::array{asked, run};
  });
}
