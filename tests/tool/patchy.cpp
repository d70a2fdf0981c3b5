// A plugin with incomplete kernels, for `ambit ops`.
#include <ambit/backend/plugin.h>
#include <ambit/backend/reference.h>
#include <ambit/error.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "tests/plugin/toy.h"

namespace {

using namespace ambit;

// The device's memory is host memory, so that a host loop can access it.
void fill(Tensor& y, const Scalar& value) { reference::fill(y, value); }

// No float64.
void where(Tensor& y, const Tensor& condition, const Tensor& a, const Tensor& b) {
  if (y.dtype() == kFloat64) throw DTypeError("where: expected float32, got float64");
  Tensor out = toy::on_cpu(y);
  kernels::where(out, toy::on_cpu(condition), toy::on_cpu(a), toy::on_cpu(b));
}

// Has no exp, and computes int8 only by the reference loop.
void unary(Tensor& y, const Tensor& x, const UnaryOp& op) {
  if (op == UnaryOp::exp) throw NotImplementedError("exp: expected any other function, got exp");
  if (x.dtype() == kInt8) return reference::unary(y, x, op);
  Tensor out = toy::on_cpu(y);
  kernels::unary(out, toy::on_cpu(x), op);
}

void matmul(Tensor&, const Tensor&, const Tensor&) {
  if (const char* crash = std::getenv("PATCHY_CRASH")) {
    if (std::string_view(crash) == "abort") std::abort();
    std::raise(SIGSEGV);  // as after a wild access; sanitizers would report a real one
  }
  throw BackendError("matmul: lost the device");
}

// A backend that may have no devices, with a reason.
class PatchyBackend final : public toy::ToyBackend {
 public:
  using ToyBackend::ToyBackend;
  std::string reason_for_none() const override { return "expected a patch, got none"; }
};

void load(Registry& registry) {
  const int devices = std::getenv("PATCHY_ABSENT") ? 0 : 2;
  registry.add_backend(std::make_unique<PatchyBackend>("patchy", devices));
  toy::borrow<kernels::copy>(registry);
  registry.add(kernels::fill, fill);
  registry.add(kernels::where, where);
  registry.add(kernels::unary, unary);
  registry.add(kernels::matmul, matmul);
}

}  // namespace

AMBIT_PLUGIN(patchy, load)
