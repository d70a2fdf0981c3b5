// Replaces CUB's BlockReduce: the same result in thread 0, and the same rule that reusing the
// storage requires a barrier in between.
#pragma once

namespace cub {

template <class T, int kThreads>
class BlockReduce {
 public:
  struct TempStorage {
    T values[kThreads];
  };
  explicit BlockReduce(TempStorage& storage) : storage_(storage) {}
  template <class Join>
  T Reduce(T v, Join join) {
    storage_.values[threadIdx.x] = v;
    __syncthreads();
    for (int i = 1; threadIdx.x == 0 && i < kThreads; ++i) v = join(v, storage_.values[i]);
    return v;
  }
  T Sum(T v) {
    return Reduce(v, [](T a, T b) { return static_cast<T>(a + b); });
  }

 private:
  TempStorage& storage_;
};

}  // namespace cub
