// Upcasts calls with reduced floating-point operands that a kernel does not support.
#pragma once

#include <ambit/detail/widened.h>

#include <tuple>
#include <type_traits>

namespace ambit::cpu {

/// Run a call of `op` with this kernel as the dispatcher does for kernels without reduced
/// floating-point types: in float32, with large operands in parts.
template <class... A>
void run_widened(const OpBase& op, void (*kernel)(A...), std::type_identity_t<A>... args) {
  Widened call(op);
  (call.see(args), ...);
  call.run([&](Tensor* next) {
    // Braced initialisation evaluates the operands from left to right.
    std::tuple<decltype(call.take(args, next))...> wide{call.take(args, next)...};
    std::apply(kernel, wide);
  });
}

}  // namespace ambit::cpu
