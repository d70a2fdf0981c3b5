// GPU memory of the emulated runtime, filled from a tensor and read back into one.
#pragma once

#include <ambit/ambit.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <stdexcept>

namespace host_libraries {

inline void must(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

/// Memory with an array that starts `shift` bytes after an aligned address.
class GpuArray {
 public:
  /// Uninitialised memory.
  explicit GpuArray(size_t bytes, size_t shift = 0) : shift_(shift), bytes_(bytes) {
    if (bytes > 0) must(cudaMalloc(&memory_, bytes + shift));
  }
  explicit GpuArray(const ambit::Tensor& t, size_t shift = 0) : GpuArray(t.nbytes(), shift) {
    const ambit::Tensor rows = t.cpu().contiguous();
    must(cudaMemcpy(data(), rows.data_ptr(), bytes_, cudaMemcpyHostToDevice));
  }
  GpuArray(const GpuArray&) = delete;
  GpuArray& operator=(const GpuArray&) = delete;
  ~GpuArray() { free(); }

  void* data() const { return memory_ ? static_cast<std::byte*>(memory_) + shift_ : nullptr; }
  void free() {
    if (memory_) static_cast<void>(cudaFree(memory_));
    memory_ = nullptr;
  }
  /// Wait for all streams and copy; the sizes are those of a contiguous tensor.
  ambit::Tensor read(ambit::IntArrayRef sizes, ambit::DType dtype) const {
    ambit::Tensor t = ambit::empty(sizes, ambit::TensorOptions(dtype));
    must(cudaDeviceSynchronize());
    must(cudaMemcpy(t.data_ptr(), data(), t.nbytes(), cudaMemcpyDeviceToHost));
    return t;
  }

 private:
  void* memory_ = nullptr;
  size_t shift_, bytes_;
};

/// Return the maximum of |ours - exact| / bound over all elements; all are float64.
inline double worst_ratio(const ambit::Tensor& ours, const ambit::Tensor& exact,
                          const ambit::Tensor& bound) {
  return ((ours.to(ambit::kFloat64) - exact.cpu()).abs() / (bound.cpu() + 1e-300))
      .max()
      .item<double>();
}

}  // namespace host_libraries
