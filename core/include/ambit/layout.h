// Layout and MemoryFormat, libtorch's names for the order of elements in memory. All ambit tensors
// are strided.
#pragma once

#include <ambit/api.h>

#include <cstdint>
#include <iosfwd>

namespace ambit {

/// How a tensor stores its elements.
enum class Layout : int8_t {
  Strided,  ///< each dim has a stride; the layout of all tensors
  Sparse,   ///< refused with NotImplementedError
};

/// libtorch's names of the layouts.
/// @{
inline constexpr Layout kStrided = Layout::Strided;
inline constexpr Layout kSparse = Layout::Sparse;
/// @}

/// The order of elements in memory. Ops accept every order and return contiguous outputs; where
/// another one is faster, as in convolutions, ambit's backends convert internally.
enum class MemoryFormat : int8_t {
  Contiguous,      ///< row-major: the last dim has stride 1
  Preserve,        ///< the input's format
  ChannelsLast,    ///< of [N,C,H,W]: dim 1, the channels, has stride 1
  ChannelsLast3d,  ///< of [N,C,D,H,W]: dim 1, the channels, has stride 1
};

/// Print as libtorch: "Strided".
AMBIT_API std::ostream& operator<<(std::ostream& os, Layout layout);
/// Print as libtorch: "ChannelsLast".
AMBIT_API std::ostream& operator<<(std::ostream& os, MemoryFormat format);

}  // namespace ambit
