// Inner loops of comparisons, where() and conversions.
#include "backends/cpu/runtime/simd_targets.h"
#include "inner_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/compare_loops.cpp"
#include <ambit/backend/functors.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "inner_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

/// Return true if the comparison does not depend on the order, hence not on signedness.
constexpr bool has_no_sign(CompareOp op) {
  return op != CompareOp::lt && op != CompareOp::le && op != CompareOp::gt && op != CompareOp::ge;
}

#define AMBIT_LOOPS(name)                                                \
  loops_by_dtype<dtypes::kAll>([]<class T>() -> BinaryLoop {             \
    return element_binary<bool, BitsOf<has_no_sign(CompareOp::name), T>, \
                          arithmetic::Functor<CompareOp::name>>;         \
  }),
constexpr std::array kLoops{AMBIT_COMPARE_FUNCTIONS(AMBIT_LOOPS)};
#undef AMBIT_LOOPS

BinaryLoop find_compare(CompareOp op, DType dtype) {
  return kLoops[static_cast<size_t>(op)][static_cast<size_t>(dtype)];
}

/// Elements are copied as integers of their size, which preserves all bits.
template <class Bits>
void select(int64_t n, void* y, const void* condition, const void* a, const void* b) {
  Bits* out = static_cast<Bits*>(y);
  const uint8_t* chosen = static_cast<const uint8_t*>(condition);
  const Bits *left = static_cast<const Bits*>(a), *right = static_cast<const Bits*>(b);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = chosen[i] ? left[i] : right[i];
}

WhereLoop find_where(size_t element_size) {
  switch (element_size) {
    case 1:
      return select<uint8_t>;
    case 2:
      return select<uint16_t>;
    case 4:
      return select<uint32_t>;
    default:
      return select<uint64_t>;
  }
}

template <class To>
struct Convert {
  template <class From>
  To operator()(From x) const {
    return arithmetic::convert<To>(x);
  }
};

UnaryLoop find_cast(DType to, DType from) {
  return visit(to, [from]<class To>() {
    return visit(from,
                 []<class From>() -> UnaryLoop { return element_unary<To, From, Convert<To>>; });
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

BinaryLoop compare_loop(CompareOp op, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(find_compare)(op, dtype);
}
WhereLoop where_loop(size_t element_size) { return HWY_DYNAMIC_DISPATCH(find_where)(element_size); }
UnaryLoop cast_loop(DType to, DType from) { return HWY_DYNAMIC_DISPATCH(find_cast)(to, from); }

}  // namespace ambit::cpu
#endif
