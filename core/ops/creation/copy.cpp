// Copies between dtypes, layouts and devices; the only code that moves data across devices.
#include <ambit/backend/kernels.h>
#include <ambit/backend/registry.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <complex>
#include <memory>

#include "core/devices/backend_call.h"
#include "core/ops/on_host.h"
#include "core/ops/operands/allocate.h"
#include "core/ops/operands/broadcast.h"
#include "core/ops/operands/expect.h"
#include "core/ops/operands/operand_grad.h"
#include "core/profiler/recorder.h"

namespace ambit {
namespace {

// Allocate pinned host memory for copies from and to `device`.
Tensor allocate_pinned(const char* op, IntArrayRef sizes, DType dtype, Device device) try {
  const size_t bytes = allocate(op, sizes, dtype, kMeta).nbytes();
  if (bytes == 0) return allocate(op, sizes, dtype, kCPU);
  Backend& backend = usable_backend(device);
  const auto free = [&backend, bytes](void* p) { backend.free_pinned(p, bytes); };
  std::unique_ptr<void, decltype(free)> memory(
      call_backend(device, "allocate_pinned()", [&] { return backend.allocate_pinned(bytes); }),
      free);
  if (!memory) {
    throw OutOfMemoryError(fmt::format(
        "{}: expected {} bytes from allocate_pinned() of {}, got null", op, bytes, device.str()));
  }
  Tensor out = from_blob(memory.get(), sizes, dtype, free);
  static_cast<void>(memory.release());
  return out;
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory(op);
}

// Return a contiguous tensor of the same sizes with the given dtype, on t's device.
Tensor packed(const Tensor& t, DType dtype) {
  if (t.dtype() == dtype && t.is_contiguous()) return t;
  Tensor out = allocate("copy", t.sizes(), dtype, t.device());
  kernels::copy(out, t);
  return out;
}

// Copy the bytes of `from` to `to`: contiguous, equal dtype and size, on different devices.
void copy_bytes(const Tensor& to, const Tensor& from, bool non_blocking) try {
  const Device target = to.device(), source = from.device();
  const size_t bytes = from.nbytes();
  if (bytes == 0) return;
  if (source.is_cpu()) {
    const profiler::Scope scope(profiler::EventKind::copy, "copy_from_host", target, bytes);
    Backend& backend = usable_backend(target);
    call_backend(target, "copy_from_host()", [&] {
      backend.copy_from_host(target.index(), to.data_ptr(), from.data_ptr(), bytes, non_blocking);
    });
  } else if (target.is_cpu()) {
    const profiler::Scope scope(profiler::EventKind::copy, "copy_to_host", source, bytes);
    Backend& backend = usable_backend(source);
    call_backend(source, "copy_to_host()", [&] {
      backend.copy_to_host(source.index(), to.data_ptr(), from.data_ptr(), bytes, non_blocking);
    });
    if (non_blocking) to.storage()->set_pending_copy(source);
  } else if (target.kind() == source.kind()) {
    const profiler::Scope scope(profiler::EventKind::copy, "copy_between_devices", target, bytes);
    Backend& backend = usable_backend(target);
    call_backend(target, "copy()", [&] {
      backend.copy(target.index(), to.data_ptr(), source.index(), from.data_ptr(), bytes);
    });
  } else {  // two unrelated accelerators copy through the host
    const Tensor host = allocate("copy", from.sizes(), from.dtype(), kCPU);
    copy_bytes(host, from, false);
    copy_bytes(to, host, false);
  }
} catch (const std::bad_alloc&) {  // thrown by a backend that keeps a copy of the data
  throw_out_of_host_memory("copy");
}

// As above, for any layouts and dtypes. `from` broadcasts to `to`; it is moved to the other device
// before it is expanded, in the smaller of the two dtypes.
void copy_across(const Tensor& to, const Tensor& from, bool non_blocking) {
  const bool narrow_first = element_size(to.dtype()) < element_size(from.dtype());
  const DType dtype = narrow_first ? to.dtype() : from.dtype();
  const Tensor sent = packed(from, dtype);
  const bool direct = to.is_contiguous() && to.dtype() == dtype && to.sizes() == sent.sizes();
  const Tensor landed = direct ? to : allocate("copy", sent.sizes(), dtype, to.device());
  // Host staging memory is freed on return, so the copy must be complete then.
  const bool staged = (!direct && to.is_cpu()) || (!sent.is_same(from) && from.is_cpu());
  copy_bytes(landed, sent, non_blocking && !staged);
  if (direct) return;
  Tensor y = to;
  kernels::copy(y, expanded(landed, to.sizes()));
}

void copy_data(const char* op, const Tensor& to, const Tensor& from, bool non_blocking) {
  if (to.is_meta()) return;
  if (from.is_meta()) {
    throw NotImplementedError(fmt::format(
        "{}: expected a source with data, got a meta tensor, which has only a shape", op));
  }
  if (to.device() != from.device()) return copy_across(to, from, non_blocking);
  Tensor y = to;
  kernels::copy(y, expanded(from, to.sizes()));
}

}  // namespace

void write_back(const Tensor& output, const Tensor& host) {
  copy_data("copy", output, host, false);
}

const Tensor& copy_(const Tensor& self, const Tensor& src, bool non_blocking) {
  expect_defined("copy_", "self", self);
  expect_defined("copy_", "src", src);
  check_broadcasts_to("copy_", src.sizes(), self.sizes());
  check_in_place("copy_", self);
  if (self.is_same(src)) return self;
  check_no_overlap("copy_", self, src);
  copy_data("copy_", self, src, non_blocking);
  record_in_place("copy", self, wrt(self, ZerosLike(self)), wrt(src, ReduceGradTo(src)));
  return self;
}

Tensor to(const Tensor& self, Device device, DType dtype, bool non_blocking, bool copy) {
  expect_defined("to", "self", self);
  if (!copy && self.dtype() == dtype && self.device() == device) return self;
  // As in libtorch, a non-blocking copy to the host goes to pinned memory.
  const bool pinned = non_blocking && device.is_cpu() && !self.is_cpu() && !self.is_meta();
  Tensor out = pinned ? allocate_pinned("to", self.sizes(), dtype, self.device())
                      : allocate("to", self.sizes(), dtype, device);
  copy_data("to", out, self, non_blocking);
  if (!needs_gradient(self)) return out;
  return record("to", std::move(out), wrt(self, ReduceGradTo(self)));
}

Tensor clone(const Tensor& self) {
  expect_defined("clone", "self", self);
  Tensor out = allocate("clone", self.sizes(), self.dtype(), self.device());
  kernels::copy(out, self);
  return record("clone", std::move(out), wrt(self, [](const Tensor& g) { return g; }));
}

Tensor contiguous(const Tensor& self) {
  expect_defined("contiguous", "self", self);
  return self.is_contiguous() ? self : clone(self);
}

Tensor Tensor::pin_memory(std::optional<Device> to) const {
  const Device device = to ? *to : best_device();
  if (!is_cpu()) {
    throw BackendError(
        fmt::format("pin_memory: expected a tensor on cpu, got one on {}", this->device().str()));
  }
  if (is_pinned(device)) return *this;
  Tensor out = allocate_pinned("pin_memory", sizes(), dtype(), device);
  kernels::copy(out, *this);
  return record("pin_memory", std::move(out), wrt(*this, ReduceGradTo(*this)));
}

bool Tensor::is_pinned(std::optional<Device> device) const {
  if (!is_cpu() || nbytes() == 0) return false;
  const Device by = device ? *device : best_device();
  Backend& backend = usable_backend(by);
  return call_backend(by, "is_pinned()", [&] { return backend.is_pinned(data_ptr(), nbytes()); });
}

namespace {

void expect_item(const Tensor& t) {
  if (t.numel() != 1) {
    throw ShapeError(
        fmt::format("item: expected a tensor with one element, got shape {}", str(t.sizes())));
  }
  if (t.is_meta()) {
    throw NotImplementedError("item: expected a tensor with data, got a meta tensor");
  }
}

template <class T>
T element(const Tensor& t) {
  if (t.is_cpu()) return *static_cast<const T*>(t.data_ptr());
  T value{};
  const profiler::Scope scope(profiler::EventKind::copy, "item", t.device(), sizeof value);
  Backend& backend = usable_backend(t.device());
  call_backend(t.device(), "copy_to_host()", [&] {
    backend.copy_to_host(t.device().index(), &value, t.data_ptr(), sizeof value, false);
  });
  return value;
}

}  // namespace

Scalar Tensor::item() const {
  expect_item(*this);
  if (is_complex()) {
    const std::complex<double> value = complex_item();
    if (value.imag() == 0) return value.real();
    throw DTypeError(
        "item: expected a number without an imaginary part, got one with it; use "
        "item<std::complex<double>>()");
  }
  constexpr DTypeSet kReal(DTypeBits(dtypes::kStored.bits & ~dtypes::kComplex.bits));
  return visit<kReal>(dtype(), [&]<class T>() { return Scalar(element<T>(*this)); });
}

std::complex<double> Tensor::complex_item() const {
  if (!is_complex()) return item().to<double>();
  expect_item(*this);
  if (dtype() == kComplexDouble) return element<std::complex<double>>(*this);
  return std::complex<double>(element<std::complex<float>>(*this));
}

}  // namespace ambit
