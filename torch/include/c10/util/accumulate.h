// Sums and products of lists of integers.
#pragma once

#include <torch/namespaces.h>

#include <cstdint>
#include <functional>
#include <numeric>

namespace c10 {

template <class Container>
int64_t sum_integers(const Container& list) {
  return std::accumulate(list.begin(), list.end(), int64_t{0});
}
template <class Container>
int64_t multiply_integers(const Container& list) {
  return std::accumulate(list.begin(), list.end(), int64_t{1}, std::multiplies<>());
}
template <class Iterator>
int64_t multiply_integers(Iterator begin, Iterator end) {
  return std::accumulate(begin, end, int64_t{1}, std::multiplies<>());
}

}  // namespace c10
