// Comparisons and logical ops of two operands, with bool results, and where().
#include <ambit/backend/reference.h>

#include <type_traits>

#include "convert.h"
#include "runs.h"
#include "strided_loop.h"

namespace ambit::reference {
namespace {

template <class T>
bool holds(CompareOp op, T a, T b) {
  // clang-format off
  switch (op) {
    case CompareOp::eq: return a == b;
    case CompareOp::ne: return a != b;
    case CompareOp::lt: return a < b;
    case CompareOp::le: return a <= b;
    case CompareOp::gt: return a > b;
    case CompareOp::ge: return a >= b;
    case CompareOp::logical_and: return a != T{0} && b != T{0};
    case CompareOp::logical_or: return a != T{0} || b != T{0};
    case CompareOp::logical_xor: break;
  }
  // clang-format on
  return (a != T{0}) != (b != T{0});
}

}  // namespace

void compare(Tensor& y, const Tensor& a, const Tensor& b, const CompareOp& op) {
  count_run();
  bool* py = y.data_ptr<bool>();
  visit(a.dtype(), [&]<class T>() {
    const T* pa = a.data_ptr<T>();
    const T* pb = b.data_ptr<T>();
    strided_loop(y.sizes(), {y.strides(), a.strides(), b.strides()},
                 [&](int64_t i, int64_t j, int64_t k) { py[i] = holds(op, pa[j], pb[k]); });
  });
}

void compare_scalar(Tensor& y, const Tensor& x, const Scalar& number, const CompareOp& op) {
  count_run();
  bool* py = y.data_ptr<bool>();
  visit(x.dtype(), [&]<class T>() {
    const T* px = x.data_ptr<T>();
    const T v = element_of<T>(number);
    strided_loop(y.sizes(), {y.strides(), x.strides()},
                 [&](int64_t i, int64_t j) { py[i] = holds(op, px[j], v); });
  });
}

void where(Tensor& y, const Tensor& condition, const Tensor& a, const Tensor& b) {
  count_run();
  const bool* pc = condition.data_ptr<bool>();
  visit(y.dtype(), [&]<class T>() {
    T* py = y.data_ptr<T>();
    const T* pa = a.data_ptr<T>();
    const T* pb = b.data_ptr<T>();
    strided_loop(
        y.sizes(), {y.strides(), condition.strides(), a.strides(), b.strides()},
        [&](int64_t i, int64_t c, int64_t j, int64_t k) { py[i] = pc[c] ? pa[j] : pb[k]; });
  });
}

void masked_fill(Tensor& y, const Tensor& x, const Tensor& mask, const Scalar& value, bool masked) {
  count_run();
  const bool* pm = mask.data_ptr<bool>();
  visit(y.dtype(), [&]<class T>() {
    T* py = y.data_ptr<T>();
    const T* px = x.data_ptr<T>();
    const T v = element_of<T>(value);
    strided_loop(y.sizes(), {y.strides(), x.strides(), mask.strides()},
                 [&](int64_t i, int64_t j, int64_t m) { py[i] = pm[m] == masked ? v : px[j]; });
  });
}

}  // namespace ambit::reference
