#include "by_host.h"

#include <ambit/autograd.h>
#include <ambit/backend/op.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/elementwise.h>

#include <string>

#include "core/ops/operands/allocate.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/promote.h"

namespace ambit {
namespace {

Tensor without_gradient(const char* name, Tensor out, const Tensor& a, const Tensor& b) {
  if (!needs_gradient(a, b)) return out;
  const auto refuse = [name](const Tensor&) -> Tensor {
    throw NotImplementedError(std::string(name) +
                              ": expected no backward, got one; the gradient is not implemented");
  };
  if (!b.defined()) return record(name, std::move(out), wrt(a, refuse));
  return record(name, std::move(out), wrt(a, refuse), wrt(b, refuse));
}

Tensor on_host(const Tensor& t, IntArrayRef sizes) {
  return t.detach().to(kCPU).to(kFloat64).expand(sizes).contiguous();
}

}  // namespace

Tensor by_host(const char* name, const Tensor& self, double (*f)(double)) {
  expect_defined(name, "self", self);
  expect_real(name, self);
  const DType dtype = compute_dtype(name, Domain::floats, self.dtype());
  if (self.is_meta()) return allocate(name, self.sizes(), dtype, self.device());
  const Tensor x = on_host(self, self.sizes()), out = allocate(name, x.sizes(), kFloat64, kCPU);
  const double* p = x.data_ptr<double>();
  auto* y = out.data_ptr<double>();
  for (int64_t i = 0; i < x.numel(); ++i) y[i] = f(p[i]);
  return without_gradient(name, out.to(dtype).to(self.device()), self, {});
}

Tensor by_host(const char* name, const Tensor& x, const Tensor& n, double (*f)(double, double)) {
  const Device device = check_devices(name, {{"x", x}, {"n", n}}, DeviceRule::elementwise);
  expect_defined(name, "x", x);
  expect_defined(name, "n", n);
  expect_real(name, x);
  expect_real(name, n);
  const DType dtype = compute_dtype(name, Domain::floats, result_type(x, n));
  const Dims sizes = broadcast(name, x.sizes(), n.sizes());
  if (device.is_meta()) return allocate(name, sizes, dtype, device);
  const Tensor a = on_host(x, sizes), b = on_host(n, sizes);
  const Tensor out = allocate(name, sizes, kFloat64, kCPU);
  const double *pa = a.data_ptr<double>(), *pb = b.data_ptr<double>();
  auto* y = out.data_ptr<double>();
  for (int64_t i = 0; i < out.numel(); ++i) y[i] = f(pa[i], pb[i]);
  return without_gradient(name, out.to(dtype).to(device), x, n);
}

}  // namespace ambit
