// Kernels of the CPU against those of the reference backend, called directly. Each file of cases
// lists the ops it covers, so that kernels_test.cpp can see that none is forgotten.
#pragma once

#include <ambit/kernels.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

struct KernelCase {
  const char* op;
  void (*run)();
};
std::vector<KernelCase> elementwise_cases();
std::vector<KernelCase> reduction_cases();
std::vector<KernelCase> index_cases();
std::vector<KernelCase> layer_cases();

inline constexpr ambit::DType kAllDTypes[] = {ambit::kBool,    ambit::kUInt8,  ambit::kInt8,
                                              ambit::kInt16,   ambit::kInt32,  ambit::kInt64,
                                              ambit::kFloat32, ambit::kFloat64};

/// The same tensor on both devices, with the same strides.
struct Twin {
  ambit::Tensor cpu, reference;
};

inline ambit::Device reference_device() { return ambit::Device("reference"); }

inline std::mt19937_64& generator() {
  static std::mt19937_64 g(20240607);
  return g;
}

/// Floats: uniform in [-3, 3]. Integers: all bits random. bool: either.
template <class T>
T random_element() {
  if constexpr (std::is_same_v<T, bool>) {
    return generator()() % 2 == 0;
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(std::uniform_real_distribution<double>(-3, 3)(generator()));
  } else {
    return static_cast<T>(generator()());
  }
}

/// A contiguous tensor of f(i), i in row-major order, on both devices.
template <class T, class F>
Twin make_twin(ambit::IntArrayRef sizes, const F& f) {
  ambit::Tensor t = ambit::empty(sizes, ambit::dtype_of<T>);
  for (int64_t i = 0; i < t.numel(); ++i) t.data_ptr<T>()[i] = f(i);
  return {t, t.to(reference_device())};
}

inline Twin random_twin(ambit::IntArrayRef sizes, ambit::DType dtype) {
  return ambit::visit(dtype, [&]<class T>() {
    return make_twin<T>(sizes, [](int64_t) { return random_element<T>(); });
  });
}

template <class F>
Twin map(const Twin& t, const F& view) {
  return {view(t.cpu), view(t.reference)};
}

/// How an operand of some sizes lies in memory.
enum class Layout { contiguous, transposed, sliced, offset, broadcast };
inline constexpr Layout kLayouts[] = {Layout::contiguous, Layout::transposed, Layout::sliced,
                                      Layout::offset, Layout::broadcast};

/// Make a tensor of `sizes` whose elements come from make(base sizes), laid out as asked.
template <class Make>
Twin laid_out(ambit::IntArrayRef sizes, Layout layout, const Make& make) {
  using ambit::Tensor;
  const auto dims = static_cast<int64_t>(sizes.size());
  ambit::Dims base = sizes, order(sizes.size());
  switch (layout) {
    case Layout::contiguous:
      return make(sizes);
    case Layout::transposed:
      for (size_t d = 0; d < sizes.size(); ++d) {
        order[d] = dims - 1 - static_cast<int64_t>(d);
        base[d] = sizes[sizes.size() - 1 - d];
      }
      return map(make(base), [&](const Tensor& t) { return t.permute(order); });
    case Layout::sliced:
      if (dims == 0) return make(sizes);
      base[base.size() - 1] = 2 * sizes.back() + 1;
      return map(make(base),
                 [&](const Tensor& t) { return t.slice(-1, 1, 2 * sizes.back() + 1, 2); });
    case Layout::offset:  // contiguous, but its address is only aligned to an element
      base = {ambit::count("laid_out", sizes) + 1};
      return map(make(base), [&](const Tensor& t) { return t.slice(0, 1).view(sizes); });
    case Layout::broadcast:
      for (size_t d = 0; d < base.size(); d += 2) base[d] = std::min<int64_t>(base[d], 1);
      return map(make(base), [&](const Tensor& t) { return t.expand(sizes); });
  }
  return {};
}
inline Twin laid_out(ambit::IntArrayRef sizes, Layout layout, ambit::DType dtype) {
  return laid_out(sizes, layout, [&](ambit::IntArrayRef s) { return random_twin(s, dtype); });
}

/// How far a result may be from the reference's: ulps * epsilon(dtype) * |expected| + absolute.
struct Bound {
  double ulps = 0, absolute = 0;
};

inline void check_close(const Twin& result, Bound bound = {}) {
  using namespace ambit;
  REQUIRE(result.cpu.sizes() == result.reference.sizes());
  REQUIRE(result.cpu.dtype() == result.reference.dtype());
  const Tensor got = result.cpu.contiguous(), want = result.reference.to(kCPU).contiguous();
  visit(got.dtype(), [&]<class T>() {
    const T *a = got.data_ptr<T>(), *b = want.data_ptr<T>();
    for (int64_t i = 0; i < got.numel(); ++i) {
      bool close = a[i] == b[i];
      if constexpr (std::is_floating_point_v<T>) {
        const double x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
        const double ulp = std::max(std::abs(y) * std::numeric_limits<T>::epsilon(),
                                    static_cast<double>(std::numeric_limits<T>::denorm_min()));
        close = close || (std::isnan(x) && std::isnan(y)) ||
                (std::isfinite(x) && std::abs(x - y) <= bound.ulps * ulp + bound.absolute);
      }
      if (close) continue;
      INFO("element ", i, " of ", got.numel(), ": ", a[i], ", reference ", b[i]);
      CHECK(close);
      return;  // one element tells enough
    }
  });
}

/// An output for both devices, filled with the same bits, so that what is not written is equal.
inline Twin output_twin(ambit::IntArrayRef sizes, ambit::DType dtype,
                        Layout layout = Layout::contiguous) {
  return laid_out(sizes, layout, dtype);
}
