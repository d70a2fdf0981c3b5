// The kernels of all elementwise ops: y[i] = f(a[i], b[i], ...), by vectors of 16 bytes where all
// operands lie side by side or are one repeated element, else element by element.
#pragma once

#include <ambit/tensor.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "backends/cuda/runtime/launch.h"
#include "strided.h"

namespace ambit::cuda {

template <class T, int V>
struct alignas(sizeof(T) * V) Vector {
  T lane[V];
};

/// An operand of the vector kernel: elements side by side, or one for all.
template <class X>
struct Side {
  const X* data;
  bool repeated;
};

template <int V, class X>
__device__ Vector<X, V> load(const Side<X>& x, int64_t begin) {
  if (!x.repeated) return *reinterpret_cast<const Vector<X, V>*>(x.data + begin);
  Vector<X, V> v;
  for (int j = 0; j < V; ++j) v.lane[j] = *x.data;
  return v;
}

// A functor that refuses some operands; the elements of y that they are for stay as they are.
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

// y [n], x [n] or one element. Every thread makes one vector; the last one what is left.
template <int V, class F, class Y, class... X>
__global__ void map_vectors(int64_t n, F f, Y* y, Side<X>... x) {
  const int64_t begin = thread_index() * V;
  if (begin + V <= n) {
    return put_vector<V>(y + begin, f, load<V>(x, begin)...);
  }
#pragma unroll 1
  for (int64_t i = begin; i < n; ++i) put(y[i], f, x.data[x.repeated ? 0 : i]...);
}

template <class F, class Y, class... X, size_t... I>
__device__ void map_one(const int32_t (&at)[1 + sizeof...(X)], const F& f, Y* y,
                        std::index_sequence<I...>, const X*... x) {
  put(y[at[0]], f, x[at[1 + I]]...);
}

// y, x of one shape, walked by `indexer`.
template <class F, class Y, class... X>
__global__ void map_elements(Indexer<1 + sizeof...(X)> indexer, uint32_t n, F f, Y* y,
                             const X*... x) {
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
    if (k > 0 && stride == 0) continue;
    if (stride != 1 || reinterpret_cast<uintptr_t>(data[k]) % (sizes[k] * V) != 0) return false;
  }
  return true;
}

template <class Y, class... X, class F, class... T, size_t... I>
void map_impl(const F& f, Tensor& y, std::index_sequence<I...>, const T&... x) {
  constexpr int N = 1 + sizeof...(X);
  constexpr int V = static_cast<int>(16 / std::max({sizeof(Y), sizeof(X)...}));
  const Walk<N> walk =
      collapsed<N>(y.sizes(), {IntArrayRef(y.strides()), IntArrayRef(x.strides())...});
  for_each_piece(walk, [&](const Walk<N>& piece) {
    Y* to = static_cast<Y*>(y.data_ptr()) + piece.offsets[0];
    const std::tuple<const X*...> from{static_cast<const X*>(x.data_ptr()) +
                                       piece.offsets[1 + I]...};
    const int64_t n = piece.count();
    if (is_vectorizable<V, N>(piece, {sizeof(Y), sizeof(X)...}, {to, std::get<I>(from)...})) {
      launch(map_vectors<V, F, Y, X...>, grid_for(n / V + 1), n, f, to,
             Side<X>{std::get<I>(from), !piece.sizes.empty() && piece.strides[1 + I][0] == 0}...);
    } else {
      launch(map_elements<F, Y, X...>, grid_for(n), Indexer<N>(piece), static_cast<uint32_t>(n), f,
             to, std::get<I>(from)...);
    }
  });
}

/// y = f(x...) with elements of types Y and X...; y may be one of x. `f` is copied to the device.
template <class Y, class... X, class F, class... T>
void map(const F& f, Tensor& y, const T&... x) {
  map_impl<Y, X...>(f, y, std::index_sequence_for<X...>(), x...);
}

}  // namespace ambit::cuda
