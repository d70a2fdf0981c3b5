// The accesses of a call to memory, and the parameter types that it refuses.
#include "backends/cuda/runtime/call.h"

#include <ambit/backend/kernels.h>
#include <ambit/ops/creation.h>
#include <doctest/doctest.h>

#include <type_traits>
#include <vector>

using namespace ambit;
using ambit::cuda::Access;
using ambit::cuda::Accesses;

namespace {

template <class T>
concept Taken = requires(Accesses a, T& argument) {
  a.add(argument);
};

struct Unknown {
  void* memory;
};

// Pointers and unknown types, which may refer to memory, are compile errors.
static_assert(!Taken<void*> && !Taken<void* const> && !Taken<const void*> && !Taken<float*>);
static_assert(!Taken<Unknown> && !Taken<std::vector<float>>);
static_assert(Taken<Tensor> && Taken<const Tensor> && Taken<TensorList>);
static_assert(Taken<int64_t> && Taken<bool> && Taken<double> && Taken<const Scalar>);
static_assert(Taken<const UnaryOp> && Taken<const ConvParams> && Taken<const AdamParams>);

template <class T>
concept Locates = requires(T& argument) {
  cuda::gpu_of(argument);
};
static_assert(!Locates<void*> && !Locates<Unknown> && Locates<const Scalar>);

std::vector<Access> listed(const Accesses& accesses) {
  const std::span<const Access> all = accesses;
  return {all.begin(), all.end()};
}

}  // namespace

TEST_CASE("a call reads its inputs, and writes its outputs and lists") {
  Tensor y = zeros({3}), undefined;
  const Tensor x = zeros({4}), none;
  const Tensor view = x.slice(0, 2);
  const std::vector<Tensor> list{zeros({1}), zeros({2})};
  Accesses accesses;
  accesses.add(y);
  accesses.add(undefined);
  accesses.add(view);
  accesses.add(none);
  accesses.add(TensorList(list));
  accesses.add(3.0);
  accesses.add(UnaryOp::exp);
  const std::vector<Access> all = listed(accesses);
  REQUIRE(all.size() == 4);
  CHECK(all[0].p == y.data_ptr());
  CHECK(all[0].writes);
  CHECK(all[1].p == x.data_ptr());  // the block, not the start of the view
  CHECK_FALSE(all[1].writes);
  for (const size_t i : {size_t{2}, size_t{3}}) {
    CHECK(all[i].p == list[i - 2].data_ptr());
    CHECK(all[i].writes);
  }
}

// The arguments of the kernel's signature, as the call's frame passes them.
TEST_CASE("batch norm writes its running statistics in training, and reads them otherwise") {
  Tensor y = zeros({2, 3}), mean = zeros({3}), invstd = zeros({3});
  Tensor running_mean = zeros({3}), running_var = ones({3});
  const Tensor x = zeros({2, 3}), w = ones({3}), b = zeros({3});
  const std::vector<const void*> all{
      y.data_ptr(),           mean.data_ptr(), invstd.data_ptr(), running_mean.data_ptr(),
      running_var.data_ptr(), x.data_ptr(),    w.data_ptr(),      b.data_ptr()};
  for (const bool training : {true, false}) {
    CAPTURE(training);
    const BatchNormParams p{.training = training};
    const auto frame = []<class... A>(const Op<void(A...)>&, std::type_identity_t<A>... args) {
      return listed(cuda::accesses_of(args...));
    };
    const std::vector<Access> got =
        frame(kernels::batch_norm, y, mean, invstd, running_mean, running_var, x, w, b, p);
    REQUIRE(got.size() == all.size());
    for (size_t i = 0; i < all.size(); ++i) {
      CAPTURE(i);
      CHECK(got[i].p == all[i]);
      CHECK(got[i].writes == (i < 3 || (training && i < 5)));
    }
  }
}
