// Calls of 16 bits that a kernel does not take as they are, though it does others.
#pragma once

#include <ambit/detail/widened.h>

#include <tuple>
#include <type_traits>

namespace ambit::cpu {

/// Do a call of `op`, whose kernel this is, as the dispatcher does where a kernel takes no 16 bits:
/// in float32, large operands in parts.
template <class... A>
void run_widened(const OpBase& op, void (*kernel)(A...), std::type_identity_t<A>... args) {
  Widened call(op);
  (call.see(args), ...);
  call.run([&](Tensor* next) {
    // Braces, so that the operands are taken from left to right.
    std::tuple<decltype(call.take(args, next))...> wide{call.take(args, next)...};
    std::apply(kernel, wide);
  });
}

}  // namespace ambit::cpu
