// c10::intrusive_ptr is in torch/namespaces.h: one type, whichever headers a program includes.
#pragma once

#include <torch/namespaces.h>

#include <utility>

namespace c10 {

/// A base of classes that are held by it: nothing is asked of them here.
struct intrusive_ptr_target {
  virtual ~intrusive_ptr_target() = default;
};

template <class T, class... Args>
intrusive_ptr<T> make_intrusive(Args&&... args) {
  return std::make_shared<T>(std::forward<Args>(args)...);
}

}  // namespace c10
