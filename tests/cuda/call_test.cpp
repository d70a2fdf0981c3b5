// What a call takes for the memory that it uses, and what it refuses to take for a parameter.
#include "backends/cuda/runtime/call.h"

#include <ambit/ops/creation.h>
#include <doctest/doctest.h>

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

// Memory behind a pointer, or in a type that nobody has named, is not passed over in silence.
static_assert(!Taken<void*> && !Taken<void* const> && !Taken<const void*> && !Taken<float*>);
static_assert(!Taken<Unknown> && !Taken<std::vector<float>>);
static_assert(Taken<Tensor> && Taken<const Tensor> && Taken<TensorList>);
static_assert(Taken<int64_t> && Taken<bool> && Taken<double> && Taken<const Scalar>);
static_assert(Taken<const UnaryOp> && Taken<const Conv2dParams> && Taken<const AdamParams>);

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

TEST_CASE("a call reads its inputs, and writes outputs and lists, as its signature has them") {
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
  CHECK(all[1].p == x.data_ptr());  // the block, wherever in it the view begins
  CHECK_FALSE(all[1].writes);
  for (const size_t i : {size_t{2}, size_t{3}}) {
    CHECK(all[i].p == list[i - 2].data_ptr());
    CHECK(all[i].writes);
  }
}
