// Autocast: a region in which products run in 16 bits and what needs range or precision in float32,
// so that a network of float32 parameters trains at the speed and memory of 16 bits:
//   {
//     AutocastGuard guard(net_device, kBFloat16);
//     loss = nn::functional::cross_entropy(net(x), target);
//   }
//   loss.backward();  // gradients are float32, as the parameters are
// Which op runs in what: the table in detail/autocast.h. Ops cast their operands by to(), so that
// gradients come back in the operands' dtypes. A region is of one thread and of the devices named;
// regions nest, and AutocastGuard(device, dtype, false) is one without. Backward runs each op in
// the dtypes that its forward had, also where it is called within a region.
// float16 has a small range: train with it by a GradScaler (optim/grad_scaler.h). bfloat16 has
// float32's. Source: torch.autocast; libtorch's ATen/autocast_mode.h, whose names these are.
#pragma once

#include <ambit/device.h>
#include <ambit/tensor.h>

namespace ambit {

namespace autocast {

/// Return whether ops of this thread on devices of that kind are cast.
AMBIT_API bool is_autocast_enabled(Device device);
/// Set it. Who changes it by hand must clear_cache() when a region ends; AutocastGuard does.
AMBIT_API void set_autocast_enabled(Device device, bool enabled);
/// Return the 16-bit dtype of a kind of devices: at first float16 of cuda, bfloat16 of others.
AMBIT_API DType get_autocast_dtype(Device device);
/// Set it, for this thread. Errors: DTypeError unless it is float16 or bfloat16.
AMBIT_API void set_autocast_dtype(Device device, DType dtype);

// libtorch's names of cuda, whether there is any or not, and of cpu.
AMBIT_API bool is_enabled();
AMBIT_API void set_enabled(bool enabled);
AMBIT_API DType get_autocast_gpu_dtype();
AMBIT_API void set_autocast_gpu_dtype(DType dtype);
inline bool is_cpu_enabled() { return is_autocast_enabled(kCPU); }
inline void set_cpu_enabled(bool enabled) { set_autocast_enabled(kCPU, enabled); }
inline DType get_autocast_cpu_dtype() { return get_autocast_dtype(kCPU); }
inline void set_autocast_cpu_dtype(DType dtype) { set_autocast_dtype(kCPU, dtype); }

/// Count the regions that this thread is in, and return how many they are then.
AMBIT_API int increment_nesting();
AMBIT_API int decrement_nesting();
/// Forget the casts of parameters: they hold memory and the graph.
AMBIT_API void clear_cache();
/// Whether casts of leaves that require grad are kept within the outermost region, as they are at
/// first. A leaf that is written in between is cast again.
AMBIT_API bool is_autocast_cache_enabled();
AMBIT_API void set_autocast_cache_enabled(bool enabled);

/// Return `t` in `dtype` where autocast may cast it, else itself: a floating-point tensor that is
/// not float64, on a device of that kind. Differentiable.
AMBIT_API Tensor cached_cast(DType dtype, const Tensor& t, Device device);
/// The same of cuda.
inline Tensor cached_cast(DType dtype, const Tensor& t) {
  return t.defined() && t.is_cuda() ? cached_cast(dtype, t, t.device()) : t;
}
/// Return the wider of `current` and the dtype of a tensor that autocast may cast: of float16 and
/// bfloat16 float32.
AMBIT_API DType prioritize(DType current, const Tensor& next, Device device);
/// The widest of `current` and all of them.
inline DType promote_type(DType current, Device) { return current; }
template <class... Tensors>
DType promote_type(DType current, Device device, const Tensor& next, const Tensors&... others) {
  return promote_type(prioritize(current, next, device), device, others...);
}

}  // namespace autocast

/// Autocast in a scope, of all devices of one kind. When the outermost guard of a thread ends, the
/// casts of parameters are forgotten.
class AMBIT_API AutocastGuard {
 public:
  /// Without a dtype: the device's own (autocast::get_autocast_dtype). Errors: DTypeError.
  explicit AutocastGuard(Device device, bool enabled = true);
  AutocastGuard(Device device, DType dtype, bool enabled = true, bool cache_enabled = true);
  ~AutocastGuard();
  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;

 private:
  Device device_;
  bool was_active_, was_enabled_, cache_was_enabled_;
  DType dtype_was_;
};

}  // namespace ambit
