// Layout and MemoryFormat, libtorch's names for the order of elements in memory. All ambit tensors
// are strided.
#pragma once

#include <ambit/api.h>

#include <cstdint>
#include <iosfwd>

namespace ambit {

/// Sparse exists only to be refused with NotImplementedError.
enum class Layout : int8_t { Strided, Sparse };

inline constexpr Layout kStrided = Layout::Strided;
inline constexpr Layout kSparse = Layout::Sparse;

/// The dim with stride 1: the last one (Contiguous), or dim 1, the channels, of [N,C,H,W]
/// (ChannelsLast) and [N,C,D,H,W] (ChannelsLast3d); Preserve: the input's format. Ops accept every
/// layout and return contiguous outputs; where another layout is faster, as in convolutions,
/// ambit's backends convert internally.
enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };

/// Print as libtorch: "Strided", "ChannelsLast".
AMBIT_API std::ostream& operator<<(std::ostream& os, Layout layout);
AMBIT_API std::ostream& operator<<(std::ostream& os, MemoryFormat format);

}  // namespace ambit
