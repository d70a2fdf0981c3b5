// Comparisons, selection and conversion on rows.
#include "backends/cpu/runtime/simd_targets.h"
#include "rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/compare_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

#define AMBIT_MAP(Name, expression)   \
  struct Name {                       \
    template <class T>                \
    bool operator()(T a, T b) const { \
      return expression;              \
    }                                 \
  }
AMBIT_MAP(Equal, a == b);
AMBIT_MAP(NotEqual, a != b);
AMBIT_MAP(Less, a < b);
AMBIT_MAP(LessEqual, a <= b);
AMBIT_MAP(LogicalAnd, (a != T(0)) & (b != T(0)));
AMBIT_MAP(LogicalOr, (a != T(0)) | (b != T(0)));
AMBIT_MAP(LogicalXor, (a != T(0)) ^ (b != T(0)));
AMBIT_MAP(Greater, a > b);
AMBIT_MAP(GreaterEqual, a >= b);
#undef AMBIT_MAP

template <class F>
BinaryRow all(DType d) {
  return visit(d, []<class T>() -> BinaryRow { return plain_binary<bool, T, F>; });
}

// clang-format off
BinaryRow find_compare(CompareOp op, DType d) {
  switch (op) {
    case CompareOp::eq: return all<Equal>(d);
    case CompareOp::ne: return all<NotEqual>(d);
    case CompareOp::lt: return all<Less>(d);
    case CompareOp::le: return all<LessEqual>(d);
    case CompareOp::gt: return all<Greater>(d);
    case CompareOp::ge: return all<GreaterEqual>(d);
    case CompareOp::logical_and: return all<LogicalAnd>(d);
    case CompareOp::logical_or: return all<LogicalOr>(d);
    case CompareOp::logical_xor: break;
  }
  return all<LogicalXor>(d);
}
// clang-format on

/// Elements are moved as integers of their size, which keeps every bit.
template <class Bits>
void select_row(int64_t n, void* y, const void* condition, const void* a, const void* b) {
  Bits* out = static_cast<Bits*>(y);
  const uint8_t* chosen = static_cast<const uint8_t*>(condition);
  const Bits *left = static_cast<const Bits*>(a), *right = static_cast<const Bits*>(b);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = chosen[i] ? left[i] : right[i];
}

WhereRow find_where(size_t element_size) {
  switch (element_size) {
    case 1:
      return select_row<uint8_t>;
    case 2:
      return select_row<uint16_t>;
    case 4:
      return select_row<uint32_t>;
    default:
      return select_row<uint64_t>;
  }
}

template <class To>
struct Convert {
  template <class From>
  To operator()(From x) const {
    if constexpr (std::is_same_v<To, bool>)
      return x != From(0);
    else
      return static_cast<To>(x);
  }
};

UnaryRow find_cast(DType to, DType from) {
  return visit(to, [from]<class To>() {
    return visit(from, []<class From>() -> UnaryRow { return plain_unary<To, From, Convert<To>>; });
  });
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(find_compare);
HWY_EXPORT(find_where);
HWY_EXPORT(find_cast);

BinaryRow compare_row(CompareOp op, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(find_compare)(op, dtype);
}
WhereRow where_row(size_t element_size) { return HWY_DYNAMIC_DISPATCH(find_where)(element_size); }
UnaryRow cast_row(DType to, DType from) { return HWY_DYNAMIC_DISPATCH(find_cast)(to, from); }

}  // namespace ambit::cpu
#endif
