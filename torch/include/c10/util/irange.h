// c10::irange(n): the integers in [0, n); irange(first, end): those in [first, end).
#pragma once

#include <torch/namespaces.h>

#include <concepts>
#include <cstddef>
#include <iterator>
#include <type_traits>

namespace c10 {

template <std::integral I>
class integer_range {
 public:
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = I;
    using difference_type = std::ptrdiff_t;
    using pointer = I*;
    using reference = I&;

    constexpr iterator() = default;
    constexpr explicit iterator(I at) : at_(at) {}
    constexpr I operator*() const { return at_; }
    constexpr iterator& operator++() {
      ++at_;
      return *this;
    }
    constexpr iterator operator++(int) {
      const iterator before = *this;
      ++at_;
      return before;
    }
    friend constexpr bool operator==(iterator, iterator) = default;

   private:
    I at_{};
  };

  constexpr integer_range(I first, I end) : first_(first), end_(end < first ? first : end) {}
  constexpr iterator begin() const { return iterator(first_); }
  constexpr iterator end() const { return iterator(end_); }

 private:
  I first_, end_;
};

template <std::integral I>
constexpr integer_range<I> irange(I end) {
  return {I(0), end};
}
template <std::integral A, std::integral B>
constexpr integer_range<B> irange(A first, B end) {
  return {static_cast<B>(first), end};
}

}  // namespace c10
