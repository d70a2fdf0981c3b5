// Autocast: a scope in which matrix products and convolutions run in a reduced floating-point dtype
// (float16 or bfloat16), and ops that need range or precision in float32. A network with float32
// parameters then trains at the speed and memory of that dtype:
//   {
//     AutocastGuard guard(net_device, kBFloat16);
//     loss = nn::functional::cross_entropy(net(x), target);
//   }
//   loss.backward();  // gradients are float32, like the parameters
// The table in detail/autocast.h lists the dtype of each op. Ops cast their operands by to(), so
// gradients have the operands' dtypes. A scope applies to one thread and one kind of device; scopes
// nest, and AutocastGuard(device, dtype, false) switches autocast off in one. Backward runs each op
// in the dtypes of its forward, even if called inside a scope. float16 has a small range: train
// with a GradScaler (optim/grad_scaler.h). bfloat16 has the range of float32. Source:
// torch.autocast; names from libtorch's ATen/autocast_mode.h.
#pragma once

#include <ambit/device.h>
#include <ambit/tensor.h>

namespace ambit {

namespace autocast {

/// Return true if autocast is enabled in this thread for devices of that kind.
AMBIT_API bool is_autocast_enabled(Device device);
/// Enable or disable autocast in this thread for devices of that kind. Callers must call
/// clear_cache() when their scope ends; AutocastGuard does.
AMBIT_API void set_autocast_enabled(Device device, bool enabled);
/// Return the reduced floating-point dtype for a kind of device: by default float16 on cuda,
/// bfloat16 on others.
AMBIT_API DType get_autocast_dtype(Device device);
/// Set the reduced floating-point dtype for a kind of device, for this thread. Errors: DTypeError
/// unless it is float16 or bfloat16.
AMBIT_API void set_autocast_dtype(Device device, DType dtype);

/// libtorch's names of the functions above for cuda, even without a cuda device, and for cpu.
/// @{
AMBIT_API bool is_enabled();
AMBIT_API void set_enabled(bool enabled);
AMBIT_API DType get_autocast_gpu_dtype();
AMBIT_API void set_autocast_gpu_dtype(DType dtype);
inline bool is_cpu_enabled() { return is_autocast_enabled(kCPU); }
inline void set_cpu_enabled(bool enabled) { set_autocast_enabled(kCPU, enabled); }
inline DType get_autocast_cpu_dtype() { return get_autocast_dtype(kCPU); }
inline void set_autocast_cpu_dtype(DType dtype) { set_autocast_dtype(kCPU, dtype); }
/// @}

/// Enter a scope of this thread; return the new nesting depth.
AMBIT_API int increment_nesting();
/// Leave a scope of this thread; return the new nesting depth.
AMBIT_API int decrement_nesting();
/// Drop the cached casts of parameters, which hold memory and the graph.
AMBIT_API void clear_cache();
/// True if casts of leaves that require grad are cached until the outermost scope ends; the
/// default. A leaf that was written after its cast is cast again.
AMBIT_API bool is_autocast_cache_enabled();
/// Enable or disable the cache of casts, for this thread.
AMBIT_API void set_autocast_cache_enabled(bool enabled);

/// Return `t` cast to `dtype` if autocast may cast it, that is, a floating-point tensor other than
/// float64 on a device of that kind; else `t`. Differentiable.
AMBIT_API Tensor cached_cast(DType dtype, const Tensor& t, Device device);
/// As above, with the device of `t` if it is a cuda tensor; else return `t`.
inline Tensor cached_cast(DType dtype, const Tensor& t) {
  return t.defined() && t.is_cuda() ? cached_cast(dtype, t, t.device()) : t;
}
/// Return the wider of `current` and the dtype of `next` if autocast may cast it; float32 for
/// float16 with bfloat16.
AMBIT_API DType prioritize(DType current, const Tensor& next, Device device);
/// Return the widest of `current` and the dtypes of all tensors.
/// @{
inline DType promote_type(DType current, Device) { return current; }
template <class... Tensors>
DType promote_type(DType current, Device device, const Tensor& next, const Tensors&... others) {
  return promote_type(prioritize(current, next, device), device, others...);
}
/// @}

}  // namespace autocast

/// Autocast in a scope, for all devices of one kind. The destructor of a thread's outermost guard
/// clears the cached casts of parameters.
class AMBIT_API AutocastGuard {
 public:
  /// Without a dtype: the device's default (autocast::get_autocast_dtype). Errors: DTypeError.
  explicit AutocastGuard(Device device, bool enabled = true);
  /// dtype: float16 or bfloat16. cache_enabled: keep the casts of parameters until the end of the
  /// outermost scope. Errors: DTypeError for any other dtype.
  AutocastGuard(Device device, DType dtype, bool enabled = true, bool cache_enabled = true);
  ~AutocastGuard();  ///< restores the previous state
  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;

 private:
  Device device_;
  bool was_active_, was_enabled_, cache_was_enabled_;
  DType dtype_was_;
};

}  // namespace ambit
