// The kernels of all elementwise ops: y[i] = f(a[i], b[i], ...), in vectors of 16 bytes if all
// operands are contiguous or broadcast scalars, else by element. An operand is a tensor, or a
// number, which is passed as a kernel argument.
#pragma once

#include <ambit/tensor.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <tuple>

#include "backends/cuda/runtime/launch.h"
#include "strided.h"

namespace ambit::cuda {

template <class T, int V>
struct alignas(sizeof(T) * V) Vector {
  T lane[V];
};

/// A number as an operand.
template <class X>
struct Number {
  X value;
};

/// An operand on the device: elements, or a number if data is null.
template <class X>
struct Source {
  __device__ X at(int64_t i) const { return data ? data[i] : value; }

  const X* data;
  X value;
  bool repeated;  ///< in vector kernels: one element for all, not contiguous ones
};

template <int V, class X>
__device__ Vector<X, V> load(const Source<X>& x, int64_t begin) {
  if (!x.repeated) return *reinterpret_cast<const Vector<X, V>*>(x.data + begin);
  Vector<X, V> v;
  for (int j = 0; j < V; ++j) v.lane[j] = x.at(0);
  return v;
}

// A functor that refuses some operands; the corresponding elements of y are not written.
template <class F, class... X>
concept Refusing = requires(const F& f, X... x) {
  f.refuses(x...);
};

template <class F, class Y, class... X>
__device__ void put(Y& y, const F& f, X... x) {
  if constexpr (Refusing<F, X...>) {
    if (f.refuses(x...)) return;
  }
  y = f(x...);
}

template <int V, class F, class Y, class... X>
__device__ void put_vector(Y* y, const F& f, const Vector<X, V>&... v) {
  if constexpr (Refusing<F, X...>) {
    bool refused = false;
    for (int j = 0; j < V; ++j) refused |= f.refuses(v.lane[j]...);
    if (refused) {
      for (int j = 0; j < V; ++j) put(y[j], f, v.lane[j]...);
      return;
    }
  }
  Vector<Y, V> out;
#pragma unroll
  for (int j = 0; j < V; ++j) out.lane[j] = f(v.lane[j]...);
  *reinterpret_cast<Vector<Y, V>*>(y) = out;
}

// y [n], x [n] or one element. Each thread computes one vector; the last thread computes the
// remaining elements.
template <int V, class F, class Y, class... X>
__global__ void map_vectors(int64_t n, F f, Y* y, Source<X>... x) {
  const int64_t begin = thread_index() * V;
  if (begin + V <= n) {
    return put_vector<V>(y + begin, f, load<V>(x, begin)...);
  }
#pragma unroll 1
  for (int64_t i = begin; i < n; ++i) put(y[i], f, x.at(x.repeated ? 0 : i)...);
}

template <class F, class Y, class... X, size_t... I>
__device__ void map_one(const int32_t (&at)[1 + sizeof...(X)], const F& f, Y* y,
                        std::index_sequence<I...>, const Source<X>&... x) {
  put(y[at[0]], f, x.at(at[1 + I])...);
}

// y, x of one shape, indexed by `indexer`.
template <class F, class Y, class... X>
__global__ void map_elements(Indexer<1 + sizeof...(X)> indexer, uint32_t n, F f, Y* y,
                             Source<X>... x) {
  for (int64_t i = thread_index(); i < n; i += thread_count()) {
    int32_t at[1 + sizeof...(X)];
    indexer.find(static_cast<uint32_t>(i), at);
    map_one(at, f, y, std::index_sequence_for<X...>(), x...);
  }
}

template <int V, int N>
bool is_vectorizable(const Walk<N>& w, const std::array<size_t, N>& sizes,
                     const std::array<const void*, N>& data) {
  if (w.sizes.size() > 1) return false;
  for (size_t k = 0; k < N; ++k) {
    const int64_t stride = w.sizes.empty() ? 1 : w.strides[k][0];
    if (k > 0 && (stride == 0 || !data[k])) continue;
    if (stride != 1 || reinterpret_cast<uintptr_t>(data[k]) % (sizes[k] * V) != 0) return false;
  }
  return true;
}

// Return the strides of an operand; for a number `none`, a 0 for each dim.
inline IntArrayRef strides_of(const Tensor& x, const Dims&) { return x.strides(); }
template <class X>
IntArrayRef strides_of(const Number<X>&, const Dims& none) {
  return none;
}

template <class X>
Source<X> source_of(const Tensor& x, int64_t offset) {
  return {static_cast<const X*>(x.data_ptr()) + offset, X{}, false};
}
template <class X>
Source<X> source_of(const Number<X>& x, int64_t) {
  return {nullptr, x.value, true};
}

template <class Y, class... X, class F, class... T, size_t... I>
void map_impl(const F& f, Tensor& y, std::index_sequence<I...>, const T&... x) {
  constexpr int N = 1 + sizeof...(X);
  // Numbers do not limit the vector size.
  constexpr int V = static_cast<int>(
      16 / std::max({sizeof(Y), (std::same_as<T, Tensor> ? sizeof(X) : size_t{1})...}));
  const Dims none(y.sizes().size(), 0);
  const Walk<N> walk = collapsed<N>(y.sizes(), {IntArrayRef(y.strides()), strides_of(x, none)...});
  for_each_piece(walk, [&](const Walk<N>& piece) {
    Y* to = static_cast<Y*>(y.data_ptr()) + piece.offsets[0];
    std::tuple<Source<X>...> from{source_of<X>(x, piece.offsets[1 + I])...};
    const int64_t n = piece.count();
    if (is_vectorizable<V, N>(piece, {sizeof(Y), sizeof(X)...}, {to, std::get<I>(from).data...})) {
      ((std::get<I>(from).repeated |= !piece.sizes.empty() && piece.strides[1 + I][0] == 0), ...);
      launch(map_vectors<V, F, Y, X...>, grid_for(n / V + 1), n, f, to, std::get<I>(from)...);
    } else {
      launch(map_elements<F, Y, X...>, grid_for(n), Indexer<N>(piece), static_cast<uint32_t>(n), f,
             to, std::get<I>(from)...);
    }
  });
}

/// y = f(x...) with elements of types Y and X...; x: tensors, one of which may be y, and Numbers.
/// `f` is copied to the device.
template <class Y, class... X, class F, class... T>
void map(const F& f, Tensor& y, const T&... x) {
  map_impl<Y, X...>(f, y, std::index_sequence_for<X...>(), x...);
}

}  // namespace ambit::cuda
