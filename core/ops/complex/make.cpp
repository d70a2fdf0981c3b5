// Functions that make complex numbers from their parts, and conjugates.
#include <ambit/backend/alias.h>
#include <ambit/backend/kernels.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <complex>
#include <cstdint>
#include <limits>

#include "core/ops/complex/parts.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/broadcast.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"

namespace ambit {
namespace {

Tensor part(const Tensor& t, int64_t offset) {
  intrusive_ptr<TensorImpl> impl(new TensorImpl(t.storage(), t.sizes(), doubled(t.strides()),
                                                doubled(t.storage_offset()) + offset,
                                                real_dtype(t.dtype())));
  impl->writes = t.impl()->writes;
  return Tensor(std::move(impl));
}

// Check the operands of complex() and polar(); return the device of the call.
Device check_parts(const char* op, const char* first, const Tensor& a, const char* second,
                   const Tensor& b) {
  expect_defined(op, first, a);
  expect_defined(op, second, b);
  const Device device = check_devices(op, {{first, a}, {second, b}}, DeviceRule::elementwise);
  for (const Tensor* t : {&a, &b}) {
    if (dtypes::kFloating.contains(t->dtype())) continue;
    throw DTypeError(fmt::format("{}: expected float32 or float64, got {}", op, name(t->dtype())));
  }
  expect_same_dtype(op, a, b);
  return device;
}

// Return x + i y on `device`; x and y broadcast and have one dtype.
Tensor joined(const char* op, const Tensor& x, const Tensor& y, Device device) {
  const Dims sizes = broadcast(op, x.sizes(), y.sizes());
  Tensor out = allocate(op, sizes, complex_dtype(x.dtype()), device);
  Tensor out_re = re(out), out_im = im(out);
  kernels::copy(out_re, operand(x, sizes, x.dtype(), device));
  kernels::copy(out_im, operand(y, sizes, y.dtype(), device));
  return out;
}

// y may be x.
void conjugate(Tensor& y, const Tensor& x) {
  if (x.dtype() == kComplexFloat) {
    // The sign of the imaginary part is the highest bit of an element.
    static_assert(std::endian::native == std::endian::little);
    Tensor to = bits(y);
    return kernels::binary_scalar(to, bits(x), {std::numeric_limits<int64_t>::min()},
                                  BinaryOp::bitwise_xor);
  }
  Tensor y_re = re(y), y_im = im(y);
  if (!y.is_same(x)) kernels::copy(y_re, re(x));
  kernels::unary(y_im, im(x), UnaryOp::neg);
}

}  // namespace

int64_t doubled(int64_t elements) {
  return static_cast<int64_t>(2 * static_cast<uint64_t>(elements));
}

Dims doubled(IntArrayRef strides) {
  Dims twice(strides);
  for (int64_t& s : twice) s = doubled(s);
  return twice;
}

Tensor re(const Tensor& t) { return part(t, 0); }
Tensor im(const Tensor& t) { return part(t, 1); }

Tensor bits(const Tensor& t) {
  intrusive_ptr<TensorImpl> impl(
      new TensorImpl(t.storage(), t.sizes(), t.strides(), t.storage_offset(), kInt64));
  impl->writes = t.impl()->writes;
  return Tensor(std::move(impl));
}

Tensor pairs(const Tensor& t) {
  Dims sizes(t.sizes()), strides = doubled(t.strides());
  sizes.push_back(2);
  strides.push_back(1);
  intrusive_ptr<TensorImpl> impl(new TensorImpl(
      t.storage(), sizes, strides, doubled(t.storage_offset()), real_dtype(t.dtype())));
  impl->writes = t.impl()->writes;
  return Tensor(std::move(impl));
}

Tensor imaginary(const Tensor& x) {
  Tensor out = allocate("imag", x.sizes(), complex_dtype(x.dtype()), x.device());
  Tensor out_re = re(out), out_im = im(out);
  kernels::fill(out_re, 0);
  kernels::copy(out_im, x);
  return record("imag", std::move(out), wrt(x, [](const Tensor& g) { return imag(g); }));
}

Tensor complex(const Tensor& real, const Tensor& imag) {
  const Device device = check_parts("complex", "real", real, "imag", imag);
  Tensor out = joined("complex", real, imag, device);
  if (!needs_gradient(real, imag)) return out;
  return record(
      "complex", std::move(out),
      wrt(real, [back = ReduceGradTo(real)](const Tensor& g) { return back(ambit::real(g)); }),
      wrt(imag, [back = ReduceGradTo(imag)](const Tensor& g) { return back(ambit::imag(g)); }));
}

Tensor polar(const Tensor& abs, const Tensor& angle) {
  check_parts("polar", "abs", abs, "angle", angle);
  const Tensor x = abs * cos(angle), y = abs * sin(angle);
  return complex(x, y);
}

Tensor conj(const Tensor& self) {
  expect_defined("conj", "self", self);
  if (!self.is_complex()) return self;
  Tensor out = allocate("conj", self.sizes(), self.dtype(), self.device());
  conjugate(out, self);
  return record("conj", std::move(out), wrt(self, [](const Tensor& g) { return conj(g); }));
}

Tensor conj_physical(const Tensor& self) {
  expect_defined("conj_physical", "self", self);
  return conj(self);
}

const Tensor& conj_physical_(const Tensor& self) {
  expect_defined("conj_physical_", "self", self);
  if (!self.is_complex()) return self;
  check_in_place("conj_physical_", self);
  Tensor y = self;
  conjugate(y, self);
  record_in_place("conj_physical", self, wrt(self, [](const Tensor& g) { return conj(g); }));
  return self;
}

Tensor detail::complex_tensor(IntArrayRef sizes, const std::complex<double>* numbers,
                              const TensorOptions& options) {
  if (!is_complex(options.dtype())) {
    throw DTypeError(
        fmt::format("tensor: expected complex64 or complex128, got {}", name(options.dtype())));
  }
  const Tensor host = allocate("tensor", sizes, kComplexDouble, kCPU);
  std::copy_n(numbers, host.numel(), host.data_ptr<std::complex<double>>());
  return finish(to(host, options.device(), options.dtype()), options);
}

Tensor detail::complex_number(const Tensor& self, std::complex<double> number) {
  expect_defined("complex", "self", self);
  const bool has_own = is_differentiable(self.dtype());
  const DType dtype = complex_dtype(has_own ? self.dtype() : get_default_dtype());
  return complex_tensor({}, &number, TensorOptions(dtype).device(self.device()));
}

Tensor resolve_conj(const Tensor& self) {
  expect_defined("resolve_conj", "self", self);
  return self;
}

Tensor resolve_neg(const Tensor& self) {
  expect_defined("resolve_neg", "self", self);
  return self;
}

}  // namespace ambit
