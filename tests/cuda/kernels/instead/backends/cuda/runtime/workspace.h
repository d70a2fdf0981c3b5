// In place of backends/cuda/runtime/workspace.h: scratch memory of the host, filled with NaN.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>

namespace ambit::cuda {

class Workspace {
 public:
  explicit Workspace(size_t bytes) : data_(bytes > 0 ? new char[bytes] : nullptr) {
    if (data_) std::memset(data_.get(), 0xff, bytes);
  }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_.get());
  }

 private:
  std::unique_ptr<char[]> data_;
};

}  // namespace ambit::cuda
