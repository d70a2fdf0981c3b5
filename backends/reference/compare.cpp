// Comparisons and logic of two operands, which give bool, and the choice between two operands.
#include <ambit/backend/reference.h>

#include <type_traits>

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

}  // namespace ambit::reference
