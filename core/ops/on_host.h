// The composite of kernels that cannot be written in ops and that few devices have: the CPU's
// kernel, on copies.
#pragma once

#include <ambit/backend/op.h>
#include <ambit/ops/creation.h>

#include <tuple>
#include <type_traits>
#include <utility>

namespace ambit {

/// Return whether the composite of `op` is that.
bool is_on_host(const OpBase& op);

/// Copy what the CPU has computed into a kernel's output, as a kernel writes it: who called the
/// kernel records that, and counts its version.
void write_back(const Tensor& output, const Tensor& host);

/// Run `op` on the CPU with copies of its tensors, and copy the outputs, which are its arguments of
/// type Tensor&, back to the device. What they hold before is not copied.
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
  // Braces, so that one is copied after the other.
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
