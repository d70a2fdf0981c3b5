// Checks that random fills by a GPU's threads, run on the host, give the reference's numbers.
#include <ambit/ambit.h>
#include <ambit/backend/reference.h>
#include <doctest/doctest.h>

#include <vector>

#include "backends/cuda/loops/random_block.h"

using namespace ambit;

TEST_CASE("threads that each draw a block of numbers draw the reference's numbers") {
  using Kind = RandomParams::Kind;
  for (const Kind kind : {Kind::uniform, Kind::normal, Kind::integer, Kind::bernoulli}) {
    for (const DType dtype : {kFloat32, kFloat64, kFloat16, kBFloat16, kInt64, kUInt8, kBool}) {
      const bool real = kind == Kind::uniform || kind == Kind::normal;
      if (real && !is_floating_point(dtype)) continue;
      for (const int64_t n : {1, 2, 3, 4, 5, 1023}) {
        RandomParams p;
        p.kind = kind;
        p.low = kind == Kind::bernoulli ? 0.3 : 0;
        p.high = dtype == kBool ? 2 : 100;
        p.seed = 0x123456789abcdef;
        p.offset = (uint64_t{1} << 32) - 2;  // carry in the counter
        // float16 and bfloat16 numbers are those of float32, rounded.
        Tensor want = empty({n}, is_reduced_floating(dtype) ? kFloat32 : dtype),
               got = zeros({n}, dtype);
        reference::random(want, p);
        visit<dtypes::kEvery>(dtype, [&]<class T>() {
          // Threads in reverse order.
          for (int64_t block = cuda::random_blocks<T>(n, p); block-- > 0;) {
            cuda::write_random_block(got.data_ptr<T>(), n, p, block);
          }
        });
        CAPTURE(static_cast<int>(kind));
        CAPTURE(std::string(name(dtype)));
        CAPTURE(n);
        CHECK(got.equal(want.to(dtype)));
      }
    }
  }
}
