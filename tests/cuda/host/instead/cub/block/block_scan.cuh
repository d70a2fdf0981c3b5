// In place of CUB's: the same results, and the same rule, that who uses the storage again puts a
// barrier between.
#pragma once

namespace cub {

template <class T, int kThreads>
class BlockScan {
 public:
  struct TempStorage {
    T values[kThreads];
  };
  explicit BlockScan(TempStorage& storage) : storage_(storage) {}
  void InclusiveSum(T v, T& sum, T& all) {
    storage_.values[threadIdx.x] = v;
    __syncthreads();
    for (int i = 1; threadIdx.x == 0 && i < kThreads; ++i) {
      storage_.values[i] = static_cast<T>(storage_.values[i] + storage_.values[i - 1]);
    }
    __syncthreads();
    sum = storage_.values[threadIdx.x];
    all = storage_.values[kThreads - 1];
  }

 private:
  TempStorage& storage_;
};

}  // namespace cub
