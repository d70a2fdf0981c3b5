// c10::intrusive_ptr, as programs hold process groups and works by it: a std::shared_ptr here,
// which is what libtorch's older programs hold them by.
#pragma once

#include <torch/namespaces.h>

#include <memory>
#include <utility>

namespace c10 {

template <class T>
using intrusive_ptr = std::shared_ptr<T>;

template <class T, class... Args>
intrusive_ptr<T> make_intrusive(Args&&... args) {
  return std::make_shared<T>(std::forward<Args>(args)...);
}

}  // namespace c10
