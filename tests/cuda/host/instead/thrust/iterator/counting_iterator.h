// Replaces Thrust's counting_iterator.
#pragma once

#include <cstdint>

namespace thrust {

template <class T>
class counting_iterator {
 public:
  explicit counting_iterator(T first) : first_(first) {}
  T operator[](int64_t i) const { return static_cast<T>(first_ + i); }

 private:
  T first_;
};

}  // namespace thrust
