// c10::intrusive_ptr is defined in torch/namespaces.h, so that it is one type in all programs.
#pragma once

#include <torch/namespaces.h>

#include <utility>

namespace c10 {

template <class T>
using weak_intrusive_ptr = std::weak_ptr<T>;

/// Base of classes held by intrusive_ptr; it has no function here.
struct intrusive_ptr_target {
  virtual ~intrusive_ptr_target() = default;
};

template <class T, class... Args>
intrusive_ptr<T> make_intrusive(Args&&... args) {
  return std::make_shared<T>(std::forward<Args>(args)...);
}

}  // namespace c10
