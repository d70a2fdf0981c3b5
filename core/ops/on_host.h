// The composite of kernels that cannot be composed of ops and that few devices have: the CPU's
// kernel, on copies.
#pragma once

#include <ambit/backend/op.h>
#include <ambit/ops/creation.h>

#include <tuple>
#include <type_traits>
#include <utility>

namespace ambit {

/// Return true if the composite of `op` is on_host().
bool is_on_host(const OpBase& op);

/// Copy the CPU's result to a kernel's output without recording or version bump, which the kernel's
/// caller does.
void write_back(const Tensor& output, const Tensor& host);

/// Run `op` on the CPU with copies of its tensors, and copy the outputs, its arguments of type
/// Tensor&, back to the device. The outputs' old values are not copied.
template <class... A>
void on_host(const Op<void(A...)>& op, std::type_identity_t<A>... args) {
  const auto to_host = []<class Arg>(Arg& arg) -> std::remove_cvref_t<Arg> {
    if constexpr (!std::is_same_v<std::remove_cv_t<Arg>, Tensor>) {
      return arg;
    } else if constexpr (std::is_const_v<Arg>) {
      return arg.defined() ? arg.to(kCPU) : arg;
    } else {
      return arg.defined() ? empty(arg.sizes(), arg.options().device(kCPU)) : arg;
    }
  };
  const auto to_device = []<class Arg>(Arg& arg, const std::remove_cv_t<Arg>& host) {
    if constexpr (std::is_same_v<Arg, Tensor>) {
      if (arg.defined()) write_back(arg, host);
    }
  };
  // Braces, so that the arguments are copied in order.
  std::tuple<std::remove_cvref_t<A>...> host{
      to_host.template operator()<std::remove_reference_t<A>>(args)...};
  std::apply(op, host);
  std::apply(
      [&](auto&... on_cpu) {
        (to_device.template operator()<std::remove_reference_t<A>>(args, on_cpu), ...);
      },
      host);
}

}  // namespace ambit
