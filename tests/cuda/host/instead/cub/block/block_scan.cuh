// Replaces CUB's BlockScan: the same results, and the same rule that reusing the storage requires a
// barrier in between.
#pragma once

namespace cub {

template <class T, int kThreads>
class BlockScan {
 public:
  struct TempStorage {
    T values[kThreads];
  };
  explicit BlockScan(TempStorage& storage) : storage_(storage) {}
  template <class Join>
  void InclusiveScan(T v, T& joined, Join join, T& all) {
    storage_.values[threadIdx.x] = v;
    __syncthreads();
    for (int i = 1; threadIdx.x == 0 && i < kThreads; ++i) {
      storage_.values[i] = join(storage_.values[i - 1], storage_.values[i]);
    }
    __syncthreads();
    joined = storage_.values[threadIdx.x];
    all = storage_.values[kThreads - 1];
  }

 private:
  TempStorage& storage_;
};

}  // namespace cub
