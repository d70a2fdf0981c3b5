#include "division.h"

#include <ambit/backend/functors.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <atomic>
#include <limits>

#include "backends/cpu/layout/loops.h"

namespace ambit::cpu {
namespace {

template <class T>
bool overflows(BinaryOp op) {
  return std::is_signed_v<T> && row_of(op).refuses == FunctionRow::Refuses::overflow;
}

[[noreturn]] void throw_zero(BinaryOp op) {
  throw Error(fmt::format("{}: expected a divisor other than 0, got 0", name(op)));
}
template <class T>
[[noreturn]] void throw_overflow(BinaryOp op) {
  throw Error(fmt::format("{}: expected a quotient that fits {}, got {} / -1", name(op),
                          name(dtype_of<T>), std::numeric_limits<T>::min()));
}

template <class T>
void check_divisors(const Tensor& a, const Tensor& b, BinaryOp op) {
  const auto loops = make_loops<2>({&b, &a});
  const T *divisor = b.data_ptr<T>(), *dividend = a.data_ptr<T>();
  parallel_runs(loops, kGrain, [&](int64_t n, const std::array<int64_t, 2>& offsets) {
    const T *d = divisor + offsets[0], *x = dividend + offsets[1];
    const int64_t d_stride = loops.inner_stride(0), x_stride = loops.inner_stride(1);
    bool zero = false, overflow = false;
    for (int64_t i = 0; i < n; ++i) {
      zero |= d[i * d_stride] == 0;
      if constexpr (std::is_signed_v<T>) {
        overflow |= d[i * d_stride] == -1 && x[i * x_stride] == std::numeric_limits<T>::min();
      }
    }
    if (zero) throw_zero(op);
    if (overflow && overflows<T>(op)) throw_overflow<T>(op);
  });
}

template <class T>
bool contains(const Tensor& x, T value) {
  const auto loops = make_loops<1>({&x});
  const T* data = x.data_ptr<T>();
  std::atomic<bool> found = false;  // relaxed stores: it is read after the threads have finished
  parallel_runs(loops, kGrain, [&](int64_t n, const std::array<int64_t, 1>& offsets) {
    const T* p = data + offsets[0];
    const int64_t stride = loops.inner_stride(0);
    bool here = false;
    for (int64_t i = 0; i < n; ++i) here |= p[i * stride] == value;
    if (here) found.store(true, std::memory_order_relaxed);
  });
  return found;
}

template <class T>
void check_number(const Tensor& x, const ScalarOperand& number, BinaryOp op) {
  constexpr T kMinusOne = static_cast<T>(-1), kLeast = std::numeric_limits<T>::min();
  const T n = arithmetic::element_of<T>(number.value);
  if (number.first ? contains<T>(x, 0) : n == 0 && x.numel() > 0) throw_zero(op);
  if (!overflows<T>(op) || n != (number.first ? kLeast : kMinusOne)) return;
  if (contains<T>(x, number.first ? kMinusOne : kLeast)) throw_overflow<T>(op);
}

}  // namespace

void check_division(BinaryOp op, const Tensor& a, const Tensor& b) {
  visit<dtypes::kIntegral>(a.dtype(), [&]<class T>() { check_divisors<T>(a, b, op); });
}

void check_division(BinaryOp op, const Tensor& x, const ScalarOperand& number) {
  visit<dtypes::kIntegral>(x.dtype(), [&]<class T>() { check_number<T>(x, number, op); });
}

}  // namespace ambit::cpu
