// c10::DispatchKey: the kernel of a custom operator that a call selects (ATen/core/dispatch).
#pragma once

#include <ambit/autograd.h>
#include <torch/namespaces.h>

#include <cstdint>

namespace c10 {

enum class DispatchKey : uint8_t {
  Undefined,
  // One for each kind of device; PrivateUse1 is for kinds without a key of their own.
  CPU,
  CUDA,
  HIP,
  XLA,
  MPS,
  XPU,
  HPU,
  MTIA,
  Meta,
  PrivateUse1,
  // For any device, in the order in which they are tried after the device's own.
  CompositeExplicitAutograd,
  CompositeExplicitAutogradNonFunctional,
  CompositeImplicitAutograd,
  CatchAll = CompositeImplicitAutograd,
  // Called instead of those above, unless a guard excludes them.
  Autograd,
  AutogradCPU,
  AutogradCUDA,
  AutogradXPU,
  AutogradMPS,
  AutogradMeta,
  AutogradPrivateUse1,
  AutogradOther = Autograd,
  Autocast,
  AutocastCPU,
  AutocastCUDA,
  // Never selected.
  ADInplaceOrView,
  BackendSelect,
  Functionalize,
  SparseCPU,
  SparseCUDA,
  QuantizedCPU,
  QuantizedCUDA,
};

namespace impl {

/// The keys that this thread's guards exclude.
struct Excluded {
  bool autograd = false, autocast = false;
};
inline constinit thread_local Excluded excluded;

/// Exclude the kernels of Autograd or Autocast keys for a scope. Other keys have no effect.
class ExcludeDispatchKeyGuard {
 public:
  explicit ExcludeDispatchKeyGuard(DispatchKey key) : before_(excluded) {
    if (key >= DispatchKey::Autograd && key < DispatchKey::Autocast) excluded.autograd = true;
    if (key >= DispatchKey::Autocast && key <= DispatchKey::AutocastCUDA) excluded.autocast = true;
  }
  ~ExcludeDispatchKeyGuard() { excluded = before_; }
  ExcludeDispatchKeyGuard(const ExcludeDispatchKeyGuard&) = delete;
  ExcludeDispatchKeyGuard& operator=(const ExcludeDispatchKeyGuard&) = delete;

 private:
  Excluded before_;
};

}  // namespace impl
}  // namespace c10
