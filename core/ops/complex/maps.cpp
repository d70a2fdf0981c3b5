// Functions of single complex numbers with the special values of C99, Annex G.
#include <ambit/backend/complex_functions.h>

#include <cmath>
#include <numbers>

namespace ambit {
namespace {

using Complex = std::complex<double>;

// Smith's algorithm: it divides by the larger part of b first, so that |b|^2 can neither overflow
// nor underflow. As in PyTorch, a / 0 divides both parts of a by 0.
Complex quotient(const Complex& a, const Complex& b) {
  const double c = b.real(), d = b.imag();
  if (std::fabs(c) >= std::fabs(d)) {
    if (c == 0 && d == 0) return {a.real() / std::fabs(c), a.imag() / std::fabs(d)};
    const double ratio = d / c, scale = 1 / (c + d * ratio);
    return {(a.real() + a.imag() * ratio) * scale, (a.imag() - a.real() * ratio) * scale};
  }
  const double ratio = c / d, scale = 1 / (c * ratio + d);
  return {(a.real() * ratio + a.imag()) * scale, (a.imag() * ratio - a.real()) * scale};
}

Complex scaled(const Complex& z, double factor) { return {z.real() * factor, z.imag() * factor}; }

Complex expm1(const Complex& z) {
  const double x = z.real(), y = z.imag(), half = std::sin(y / 2);
  if (y == 0) return {std::expm1(x), y};
  return {std::expm1(x) * std::cos(y) - 2 * half * half, std::exp(x) * std::sin(y)};
}

// Near 0, |1 + z|^2 - 1 = x (2 + x) + y^2 has no cancellation.
Complex log1p(const Complex& z) {
  const double x = z.real(), y = z.imag();
  if (std::hypot(x, y) > 0.5 || !(x > -1)) return std::log(Complex(1 + x, y));
  return {0.5 * std::log1p(x * (2 + x) + y * y), std::atan2(y, 1 + x)};
}

Complex power(const Complex& a, const Complex& b) {
  if (b == Complex(0)) return 1;
  if (a == Complex(0)) {
    return b.imag() == 0 && b.real() > 0 ? Complex(0) : std::pow(a, b);
  }
  return std::pow(a, b);
}

Complex sigmoid(const Complex& z) { return quotient(1, Complex(1) + std::exp(-z)); }

Complex sinc(const Complex& z) {
  const Complex t = scaled(z, std::numbers::pi);
  return t == Complex(0) ? Complex(1) : quotient(std::sin(t), t);
}

}  // namespace

ComplexMap complex_map(UnaryOp op) {
  switch (op) {
    case UnaryOp::exp:
      return [](const Complex& z) { return std::exp(z); };
    case UnaryOp::exp2:
      return [](const Complex& z) { return std::exp(scaled(z, std::numbers::ln2)); };
    case UnaryOp::expm1:
      return expm1;
    case UnaryOp::log:
      return [](const Complex& z) { return std::log(z); };
    case UnaryOp::log1p:
      return log1p;
    case UnaryOp::log2:
      return [](const Complex& z) { return scaled(std::log(z), std::numbers::log2e); };
    case UnaryOp::log10:
      return [](const Complex& z) { return scaled(std::log(z), std::numbers::log10e); };
    case UnaryOp::sqrt:
      return [](const Complex& z) { return std::sqrt(z); };
    case UnaryOp::rsqrt:
      return [](const Complex& z) { return quotient(1, std::sqrt(z)); };
    case UnaryOp::reciprocal:
      return [](const Complex& z) { return quotient(1, z); };
    case UnaryOp::sin:
      return [](const Complex& z) { return std::sin(z); };
    case UnaryOp::cos:
      return [](const Complex& z) { return std::cos(z); };
    case UnaryOp::tan:
      return [](const Complex& z) { return std::tan(z); };
    case UnaryOp::asin:
      return [](const Complex& z) { return std::asin(z); };
    case UnaryOp::acos:
      return [](const Complex& z) { return std::acos(z); };
    case UnaryOp::atan:
      return [](const Complex& z) { return std::atan(z); };
    case UnaryOp::sinh:
      return [](const Complex& z) { return std::sinh(z); };
    case UnaryOp::cosh:
      return [](const Complex& z) { return std::cosh(z); };
    case UnaryOp::tanh:
      return [](const Complex& z) { return std::tanh(z); };
    case UnaryOp::asinh:
      return [](const Complex& z) { return std::asinh(z); };
    case UnaryOp::acosh:
      return [](const Complex& z) { return std::acosh(z); };
    case UnaryOp::atanh:
      return [](const Complex& z) { return std::atanh(z); };
    case UnaryOp::sigmoid:
      return sigmoid;
    case UnaryOp::sinc:
      return sinc;
    case UnaryOp::sign:
      return [](const Complex& z) { return z == Complex(0) ? Complex(0) : z / std::abs(z); };
    default:
      return nullptr;
  }
}

ComplexMap2 complex_map(BinaryOp op) {
  switch (op) {
    case BinaryOp::div:
      return quotient;
    case BinaryOp::pow:
      return power;
    default:
      return nullptr;
  }
}

}  // namespace ambit
