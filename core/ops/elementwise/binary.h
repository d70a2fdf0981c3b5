// The path of a binary elementwise op from its operands to the kernel, and the templates that
// record the gradient. A family is a struct of names, kernel, domain and formulas; see
// arithmetic.cpp.
#pragma once

#include <ambit/backend/kernels.h>
#include <ambit/detail/record.h>

#include "core/ops/operands/operand_grad.h"
#include "core/ops/operands/promote.h"

namespace ambit {

/// The formulas of a family that need the old value of self; an in-place op must save a copy for
/// them.
enum class SavesSelf : uint8_t { never, for_other, always };

/// Check the devices and that both are defined; return the device of the call.
Device check_operands(const char* op, const Tensor& self, const Tensor& other, DeviceRule rule);
/// Check, promote, broadcast, allocate, and run the kernel.
Tensor compute_binary(const char* op, BinaryOp kernel, Domain domain, const Tensor& self,
                      const Tensor& other);
/// As compute_binary(), in place; after an error self is unchanged.
void compute_binary_in_place(const char* op, BinaryOp kernel, Domain domain, const Tensor& self,
                             const Tensor& other);
/// The two functions above with a scalar operand, which is not converted to a tensor.
Tensor compute_binary_scalar(const char* op, BinaryOp kernel, Domain domain, const Tensor& self,
                             const ScalarOperand& number);
void compute_binary_scalar_in_place(const char* op, BinaryOp kernel, Domain domain,
                                    const Tensor& self, const Scalar& number);
/// Return `other` as operand of an in-place op that computes in `dtype`, after all checks of the
/// op. Errors: DTypeError, ShapeError, AutogradError, Error.
Tensor operand_in_place(const char* op, const Tensor& self, const Tensor& other, DType dtype);
/// Store a result that could not be computed in place.
void store(const Tensor& self, const Tensor& result);
/// Return a copy of `self` in another dtype, outside of any graph.
Tensor copy_as(const char* op, const Tensor& self, DType dtype);

/// Run kernel(y, x) with x = self converted to `dtype`, and store y in self: in place if the dtypes
/// are equal and the kernel cannot throw half-way, else through a copy. Elements that the kernel
/// skips keep their value.
template <class Kernel>
void run_in_place(const char* op, const Tensor& self, DType dtype, bool may_throw,
                  const Kernel& kernel) {
  Tensor y = self;
  if (dtype == self.dtype() && !may_throw) return kernel(y, self);
  const Tensor copy = copy_as(op, self, dtype);
  y = copy;
  kernel(y, copy);
  store(self, copy);
}

template <class Family>
Tensor binary(const Tensor& self, const Tensor& other) {
  Tensor out = compute_binary(Family::kName, Family::kKernel, Family::kDomain, self, other);
  if (!needs_gradient(self, other)) return out;
  // A formula saves its tensors on construction: construct only those that are needed.
  if (!other.requires_grad()) {
    return record(Family::kName, std::move(out), wrt(self, Family::self_grad(self, other)));
  }
  if (!self.requires_grad()) {
    return record(Family::kName, std::move(out), wrt(other, Family::other_grad(self, other)));
  }
  return record(Family::kName, std::move(out), wrt(self, Family::self_grad(self, other)),
                wrt(other, Family::other_grad(self, other)));
}

template <class Family>
Tensor binary(const Tensor& self, const Scalar& other) {
  Tensor out =
      compute_binary_scalar(Family::kName, Family::kKernel, Family::kDomain, self, {other});
  if (!needs_gradient(self)) return out;
  return record(Family::kName, std::move(out),
                wrt(self, Family::self_grad_with_scalar(self, other)));
}

template <class Family>
const Tensor& binary_in_place(const Tensor& self, const Tensor& other) {
  constexpr SavesSelf kSelf = Family::kSavesSelf;
  const bool save = (kSelf == SavesSelf::always && needs_gradient(self, other)) ||
                    (kSelf == SavesSelf::for_other && needs_gradient(other));
  constexpr bool kSaves = saves_tensors<decltype(Family::self_grad(self, other))>;
  if (kSaves) check_savable(Family::kNameInPlace, self, other);
  if (save) check_operands(Family::kNameInPlace, self, other, DeviceRule::in_place_elementwise);
  const Tensor copy = save ? self.clone() : Tensor();
  const Tensor& before = save ? copy : self;
  const Tensor& b = other.is_same(self)
                        ? before
                        : other;  // x.mul_(x): both operands have the value before the write
  compute_binary_in_place(Family::kNameInPlace, Family::kKernel, Family::kDomain, self, other);
  if (!needs_gradient(self, other)) {
    self.bump_version();
    return self;
  }
  record_in_place(Family::kName, self, wrt(self, Family::self_grad(before, b)),
                  wrt(other, Family::other_grad(before, b)));
  return self;
}

template <class Family>
const Tensor& binary_in_place(const Tensor& self, const Scalar& other) {
  const bool save = Family::kSavesSelf == SavesSelf::always && needs_gradient(self);
  const Tensor before = save ? self.clone() : self;
  compute_binary_scalar_in_place(Family::kNameInPlace, Family::kKernel, Family::kDomain, self,
                                 other);
  if (!needs_gradient(self)) {
    self.bump_version();
    return self;
  }
  record_in_place(Family::kName, self, wrt(self, Family::self_grad_with_scalar(before, other)));
  return self;
}

// The four public functions of a family.
#define AMBIT_BINARY_OPS(name, Family)                                                         \
  Tensor name(const Tensor& self, const Tensor& other) { return binary<Family>(self, other); } \
  Tensor name(const Tensor& self, const Scalar& other) { return binary<Family>(self, other); } \
  const Tensor& name##_(const Tensor& self, const Tensor& other) {                             \
    return binary_in_place<Family>(self, other);                                               \
  }                                                                                            \
  const Tensor& name##_(const Tensor& self, const Scalar& other) {                             \
    return binary_in_place<Family>(self, other);                                               \
  }

}  // namespace ambit
