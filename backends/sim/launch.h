// Converts a reference kernel to one of a simulated device: the call is queued on the device, with
// aliases of its tensors in the device's view of their memory.
#pragma once

#include <ambit/backend/op.h>
#include <ambit/backend/registry.h>

#include <tuple>
#include <type_traits>
#include <vector>

#include "backend.h"

namespace ambit::sim {

/// Return what queued work stores of an argument: for tensors, aliases at the addresses that the
/// device's thread may use; parameters by value.
Tensor late(const Tensor& t);
std::vector<Tensor> late(TensorList list);
template <class Parameter>
const Parameter& late(const Parameter& p) {
  return p;
}

/// Return the first defined tensor among the arguments, which determines the device.
inline const Tensor* defined_tensor(const Tensor& t) { return t.defined() ? &t : nullptr; }
inline const Tensor* defined_tensor(TensorList list) {
  return list.empty() ? nullptr : defined_tensor(list[0]);
}
template <class Parameter>
const Tensor* defined_tensor(const Parameter&) {
  return nullptr;
}

inline SimulatedDevice& device_of(const Tensor& t) {
  return static_cast<SimBackend&>(backend_of(t.device())).device(t.device().index());
}

template <auto& op, auto kernel, class Signature = decltype(kernel)>
struct Launch;
template <auto& op, auto kernel, class... A>
struct Launch<op, kernel, void (*)(A...)> {
  static void run(A... args) {
    const Tensor* first = nullptr;
    ((first = first ? first : defined_tensor(args)), ...);
    std::tuple<std::decay_t<decltype(late(args))>...> held(late(args)...);
    // mutable: kernels receive their outputs as Tensor&.
    device_of(*first).launch(op.name(),
                             [held = std::move(held)]() mutable { std::apply(kernel, held); });
  }
};

/// Add a reference kernel to the backend that was added last.
template <auto& op, auto kernel>
void add(Registry& registry) {
  registry.add(op, Launch<op, kernel>::run);
}

}  // namespace ambit::sim
