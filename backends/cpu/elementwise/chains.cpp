#include "chains.h"

#include <algorithm>
#include <array>
#include <limits>

#include "inner_loops.h"

namespace ambit::cpu {
namespace {

/// Operands of a step: the result, the inputs, and temporaries. y may alias an input, so only the
/// last step writes it.
enum class Place : uint8_t { y, a, b, c, t, u };

}  // namespace

/// The smallest positive number of the dtype.
struct Least {};

/// One loop over a piece: a function of other places, or filling with a constant.
struct Step {
  constexpr Step(Place to, UnaryOp op, Place x)
      : kind(unary), function(static_cast<uint8_t>(op)), result(to), left(x) {}
  constexpr Step(Place to, BinaryOp op, Place x, Place other)
      : kind(binary), function(static_cast<uint8_t>(op)), result(to), left(x), right(other) {}
  constexpr Step(Place to, double value) : kind(fill), result(to), number(value) {}
  constexpr Step(Place to, Least) : kind(fill_least), result(to) {}

  void run(int64_t n, DType dtype, const std::array<char*, 6>& places) const {
    char* y = places[static_cast<size_t>(result)];
    const char *x = places[static_cast<size_t>(left)], *b = places[static_cast<size_t>(right)];
    switch (kind) {
      case unary:
        return unary_loop(static_cast<UnaryOp>(function), dtype)(n, y, x);
      case binary:
        return binary_loop(static_cast<BinaryOp>(function), dtype)(n, y, x, b);
      case fill:
        return visit<dtypes::kFloating>(dtype, [&]<class T>() {
          std::fill_n(static_cast<T*>(static_cast<void*>(y)), n, static_cast<T>(number));
        });
      case fill_least:
        return visit<dtypes::kFloating>(dtype, [&]<class T>() {
          std::fill_n(static_cast<T*>(static_cast<void*>(y)), n,
                      std::numeric_limits<T>::denorm_min());
        });
    }
  }

  enum : uint8_t { unary, binary, fill, fill_least } kind;
  uint8_t function = 0;
  Place result, left = Place::a, right = Place::a;
  double number = 0;
};

std::span<const Step> chain_of(TernaryOp op) {
  using enum Place;
  using U = UnaryOp;
  using B = BinaryOp;
#define AMBIT_CHAIN(name, ...)                  \
  case TernaryOp::name: {                       \
    static constexpr Step steps[]{__VA_ARGS__}; \
    return steps;                               \
  }
  switch (op) {
    AMBIT_CHAIN(abs_grad, {t, U::sign, b}, {t, B::mul, c, t}, {y, B::mul, a, t});
    AMBIT_CHAIN(square_grad, {t, B::mul, c, b}, {y, B::mul, a, t});
    AMBIT_CHAIN(reciprocal_grad, {t, U::square, b}, {t, B::mul, c, t}, {y, B::mul, a, t});
    AMBIT_CHAIN(rsqrt_grad, {t, U::square, b}, {t, B::mul, t, b}, {t, B::mul, c, t},
                {y, B::mul, a, t});
    AMBIT_CHAIN(sqrt_grad, {t, B::mul, c, b}, {y, B::div, a, t});
    AMBIT_CHAIN(expm1_grad, {t, B::add, b, c}, {y, B::mul, a, t});
    AMBIT_CHAIN(log1p_grad, {t, B::add, b, c}, {y, B::div, a, t});
    AMBIT_CHAIN(tan_grad, {t, U::square, b}, {t, B::add, t, c}, {y, B::mul, a, t});
    AMBIT_CHAIN(asin_grad, {u, 1.0}, {t, B::sub, u, b}, {u, B::add, u, b}, {t, B::mul, t, u},
                {t, U::rsqrt, t}, {t, B::mul, c, t}, {y, B::mul, a, t});
    AMBIT_CHAIN(sin_grad, {t, U::cos, b}, {t, B::mul, c, t}, {y, B::mul, a, t});
    AMBIT_CHAIN(cos_grad, {t, U::sin, b}, {t, B::mul, c, t}, {y, B::mul, a, t});
    AMBIT_CHAIN(sinh_grad, {t, U::cosh, b}, {t, B::mul, c, t}, {y, B::mul, a, t});
    AMBIT_CHAIN(cosh_grad, {t, U::sinh, b}, {t, B::mul, c, t}, {y, B::mul, a, t});
    AMBIT_CHAIN(erf_grad, {t, U::square, b}, {t, U::neg, t}, {t, U::exp, t}, {t, B::mul, c, t},
                {y, B::mul, a, t});
    AMBIT_CHAIN(erfinv_grad, {t, U::square, b}, {t, U::exp, t}, {t, B::mul, c, t},
                {y, B::mul, a, t});
    AMBIT_CHAIN(lgamma_grad, {t, U::digamma, b}, {t, B::mul, c, t}, {y, B::mul, a, t});
    AMBIT_CHAIN(i0_grad, {t, U::i1, b}, {t, B::mul, c, t}, {y, B::mul, a, t});
    AMBIT_CHAIN(softsign_grad, {t, U::abs, b}, {u, 1.0}, {t, B::add, t, u}, {t, U::square, t},
                {t, B::div, c, t}, {y, B::mul, a, t});
    AMBIT_CHAIN(div_grad, {t, B::div, c, b}, {t, B::div, t, b}, {t, B::mul, a, t}, {y, U::neg, t});
    AMBIT_CHAIN(hypot_grad, {t, B::hypot, b, c}, {t, B::div, b, t}, {y, B::mul, a, t});
    // At (0, 0) the length is raised above 0, so that the quotient is 0.
    AMBIT_CHAIN(atan2_grad, {t, B::hypot, b, c}, {u, Least{}}, {t, B::maximum, t, u},
                {u, B::div, c, t}, {t, B::div, u, t}, {y, B::mul, a, t});
    AMBIT_CHAIN(atan2_other_grad, {t, B::hypot, b, c}, {u, Least{}}, {t, B::maximum, t, u},
                {u, B::div, b, t}, {t, B::div, u, t}, {t, B::mul, a, t}, {y, U::neg, t});
    AMBIT_CHAIN(binary_cross_entropy_grad, {t, 1.0}, {t, B::sub, t, b}, {t, B::mul, b, t},
                {u, 1e-12}, {t, B::maximum, t, u}, {u, B::sub, b, c}, {u, B::mul, a, u},
                {y, B::div, u, t});
    AMBIT_CHAIN(glu_grad, {t, 1.0}, {t, B::sub, t, c}, {t, B::mul, c, t}, {t, B::mul, b, t},
                {y, B::mul, a, t});
#define AMBIT_LOOP(name, ...) case TernaryOp::name:
    AMBIT_TERNARY_LOOPS(AMBIT_LOOP)
    case TernaryOp::atan_grad:  // these have loops: the square in a chain would overflow
    case TernaryOp::asinh_grad:
      return {};
  }
#undef AMBIT_CHAIN
#undef AMBIT_LOOP
  return {};
}

void run_chain(std::span<const Step> chain, DType dtype, int64_t n, void* y, const void* a,
               const void* b, const void* c, bool one_for_all) {
  constexpr int64_t kPiece = 512;
  alignas(64) char t[kPiece * 8], u[kPiece * 8], repeated[kPiece * 8];
  if (one_for_all) {
    visit<dtypes::kFloating>(dtype, [&]<class T>() {
      std::fill_n(static_cast<T*>(static_cast<void*>(repeated)), std::min(n, kPiece),
                  *static_cast<const T*>(c));
    });
  }
  const auto size = static_cast<int64_t>(element_size(dtype));
  for (int64_t begin = 0; begin < n; begin += kPiece) {
    const auto from = [offset = begin * size](const void* p) {
      return static_cast<char*>(const_cast<void*>(p)) + offset;
    };
    const std::array places{from(y), from(a), from(b), one_for_all ? repeated : from(c), t, u};
    for (const Step& step : chain) step.run(std::min(kPiece, n - begin), dtype, places);
  }
}

}  // namespace ambit::cpu
