// Functions of complex numbers on the host. complex64 is converted to complex128 and rounded once.
#include "on_host.h"

#include <ambit/backend/complex_functions.h>
#include <ambit/ops/shape.h>

#include "core/ops/on_host.h"
#include "core/ops/operands/allocate.h"

namespace ambit {
namespace {

using Complex = std::complex<double>;

Tensor on_cpu(const Tensor& x) { return x.to(kCPU).contiguous(); }

// Set each element i of y to f(i), converted to y's dtype.
template <class F>
void fill_on_host(Tensor& y, const F& f) {
  const bool direct = y.is_cpu() && y.is_contiguous();
  const Tensor out = direct ? y : allocate("complex", y.sizes(), y.dtype(), kCPU);
  visit<dtypes::kComplex>(y.dtype(), [&]<class T>() {
    T* p = out.data_ptr<T>();
    for (int64_t i = 0; i < out.numel(); ++i) p[i] = T(f(i));
  });
  if (!direct) write_back(y, out);
}

// Call use(get) with get(i) = element i of contiguous x.
template <class Use>
void read(const Tensor& x, const Use& use) {
  visit<dtypes::kComplex>(x.dtype(), [&]<class T>() {
    const T* p = x.data_ptr<T>();
    use([p](int64_t i) { return Complex(p[i]); });
  });
}

void run(Tensor& y, const Tensor& x, ComplexMap f) {
  const Tensor host = on_cpu(x);
  read(host, [&](const auto& get) { fill_on_host(y, [&](int64_t i) { return f(get(i)); }); });
}

void run(Tensor& y, const Tensor& a, const Tensor& b, ComplexMap2 f) {
  const Tensor first = on_cpu(a), second = on_cpu(b);
  read(first, [&](const auto& x) {
    read(second, [&](const auto& z) { fill_on_host(y, [&](int64_t i) { return f(x(i), z(i)); }); });
  });
}

}  // namespace

bool map_on_host(Tensor& y, const Tensor& x, UnaryOp op) {
  const ComplexMap f = complex_map(op);
  if (f) run(y, x, f);
  return f != nullptr;
}

bool map_on_host(Tensor& y, const Tensor& a, const Tensor& b, BinaryOp op) {
  const ComplexMap2 f = complex_map(op);
  if (f) run(y, a, b, f);
  return f != nullptr;
}

}  // namespace ambit
