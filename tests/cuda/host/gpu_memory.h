// GPU memory for tests of the runtime itself.
#pragma once

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

inline void wait() { REQUIRE(cudaDeviceSynchronize() == cudaSuccess); }

/// `count` elements on the current device, uninitialised unless a value is given.
template <class T>
class Gpu {
 public:
  explicit Gpu(size_t count) : count_(count) {
    void* p = nullptr;
    REQUIRE(cudaMalloc(&p, count * sizeof(T)) == cudaSuccess);
    data_ = static_cast<T*>(p);
  }
  Gpu(size_t count, T value) : Gpu(std::vector<T>(count, value)) {}
  explicit Gpu(const std::vector<T>& values) : Gpu(values.size()) {
    REQUIRE(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice) ==
            cudaSuccess);
  }
  ~Gpu() { cudaFree(data_); }
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  operator T*() const { return data_; }
  /// Return a copy, after waiting for all work.
  std::vector<T> host() const {
    wait();
    std::vector<T> values(count_);
    REQUIRE(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost) ==
            cudaSuccess);
    return values;
  }

 private:
  size_t count_;
  T* data_ = nullptr;
};
