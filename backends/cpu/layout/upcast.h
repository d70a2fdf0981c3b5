// Upcasts calls with reduced floating-point operands that a kernel does not support.
#pragma once

#include <ambit/detail/upcast_call.h>

#include <tuple>
#include <type_traits>

namespace ambit::cpu {

/// Run a call of `op` with this kernel as the dispatcher does for kernels without reduced
/// floating-point types: in float32, with large operands in parts.
template <class... A>
void run_upcast(const OpBase& op, void (*kernel)(A...), std::type_identity_t<A>... args) {
  UpcastCall call(op);
  (call.collect(args), ...);
  call.run([&](Tensor* next) {
    // Braced initialisation evaluates the operands from left to right.
    std::tuple<decltype(call.converted(args, next))...> operands{call.converted(args, next)...};
    std::apply(kernel, operands);
  });
}

}  // namespace ambit::cpu
