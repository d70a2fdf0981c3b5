// How the own convolutions lay out an image, so that every tap of the filter meets contiguous data.
// Each channel is padded, and where the strides are not 1 split into as many volumes ("phases") as
// their product, of every stride-th element. Then output (o, p, q) and tap (c, t, r, s) meet at
//   packed[offset(c, t, r, s) + o * plane + p * pitch + q].
#pragma once

#include <vector>

#include "backends/cpu/runtime/parallel.h"
#include "conv_sizes.h"

namespace ambit::cpu {

struct ConvPacking {
  explicit ConvPacking(const ConvSizes& g);

  /// Elements of one packed image; what lies behind it may be read, one vector far.
  int64_t image() const { return sizes.C * channel; }
  /// Length of an output channel among the packed rows: o * plane + p * pitch + q for all o, p, q.
  int64_t flat() const { return (sizes.O - 1) * plane + (sizes.P - 1) * pitch + sizes.Q; }
  /// As many images as stay in the cache when packed in numbers of this size.
  int64_t images_at_once(size_t element_size) const;

  ConvSizes sizes;
  int64_t planes, rows, pitch;  // of one phase
  int64_t plane;                // elements of a plane of a phase
  int64_t channel;              // elements of all phases of a channel
  /// Of each tap (c, t, r, s) of a group, in the order of w.
  std::vector<int64_t> offsets;
};

/// packed [images, C, phases, planes, rows, pitch] = x [images,C,D,H,W], zero where that has no
/// element.
template <class T>
void pack_images(const ConvPacking& packing, int64_t images, T* packed, const T* x);
/// The way back for one image: x = packed, without the padding.
template <class T>
void unpack_image(const ConvPacking& packing, T* x, const T* packed);

}  // namespace ambit::cpu
