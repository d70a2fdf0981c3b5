// How elements lie in memory, as libtorch names it. Every tensor of ambit is strided.
#pragma once

#include <ambit/api.h>

#include <cstdint>
#include <iosfwd>

namespace ambit {

/// Sparse is there to be refused by name: NotImplementedError.
enum class Layout : int8_t { Strided, Sparse };

inline constexpr Layout kStrided = Layout::Strided;
inline constexpr Layout kSparse = Layout::Sparse;

/// Which dim's elements are neighbours: those of the last one (Contiguous), or of the channels, dim
/// 1, of [N,C,H,W] (ChannelsLast) and [N,C,D,H,W] (ChannelsLast3d); Preserve: as the input's.
/// Ops take every layout and give contiguous outputs; what a layout makes faster elsewhere, such as
/// convolutions, ambit's backends arrange on their own.
enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };

/// Print as libtorch: "Strided", "ChannelsLast".
AMBIT_API std::ostream& operator<<(std::ostream& os, Layout layout);
AMBIT_API std::ostream& operator<<(std::ostream& os, MemoryFormat format);

}  // namespace ambit
