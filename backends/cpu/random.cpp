// Random fills. The numbers themselves are philox.h's, the same on every backend; here whole blocks
// are used up, on several threads.
#include <ambit/philox.h>

#include "kernels.h"
#include "parallel.h"

namespace ambit::cpu {

void random(Tensor& y, const RandomParams& p) {
  visit(y.dtype(), [&]<class T>() {
    T* to = y.data_ptr<T>();
    const int64_t n = y.numel();
    const auto lanes = static_cast<int64_t>(philox::elements_per_block<T>(p.kind));
    parallel_for((n + lanes - 1) / lanes, kGrain / 32, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        const auto words = philox::generate(p.seed, p.offset + static_cast<uint64_t>(block));
        const int64_t first = block * lanes, count = std::min(lanes, n - first);
        for (int64_t i = 0; i < count; ++i) {
          to[first + i] = philox::from_block<T>(p, words, static_cast<uint64_t>(i));
        }
      }
    });
  });
}

}  // namespace ambit::cpu
