// at::autocast: ambit's, and libtorch's functions for further device types and lists.
#pragma once

#include <ambit/autocast.h>
#include <torch/namespaces.h>

#include <concepts>
#include <optional>
#include <vector>

namespace ambit::autocast {

// xpu is a device type if a backend has that name; otherwise its autocast is off.
inline bool is_xpu_enabled() { return is_available("xpu") && is_autocast_enabled(Device("xpu")); }
inline void set_xpu_enabled(bool enabled) { set_autocast_enabled(Device("xpu"), enabled); }
inline DType get_autocast_xpu_dtype() {
  return is_available("xpu") ? get_autocast_dtype(Device("xpu")) : kFloat16;
}
inline void set_autocast_xpu_dtype(DType dtype) { set_autocast_dtype(Device("xpu"), dtype); }

/// As cached_cast() of a tensor, for an optional tensor, and for each tensor of a list.
template <std::same_as<std::optional<Tensor>> Optional, std::convertible_to<Device>... Kind>
Optional cached_cast(DType dtype, const Optional& t, Kind... device) {
  return t ? Optional(cached_cast(dtype, *t, device...)) : t;
}
template <std::convertible_to<TensorList> List, std::convertible_to<Device>... Kind>
requires(!std::convertible_to<List, Tensor>) std::vector<Tensor> cached_cast(DType dtype,
                                                                             const List& tensors,
                                                                             Kind... device) {
  std::vector<Tensor> cast;
  for (const Tensor& t : TensorList(tensors)) cast.push_back(cached_cast(dtype, t, device...));
  return cast;
}

}  // namespace ambit::autocast
