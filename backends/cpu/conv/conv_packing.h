// How the own convolutions lay out an image, so that every tap of the filter meets contiguous data.
// Each channel is padded, and where the strides are not 1 split into as many volumes ("phases") as
// their product, of every stride-th element. Then output (o, p, q) and tap (c, t, r, s) meet at
//   packed[offset(c, t, r, s) + o * plane + p * pitch + q].
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/scratch.h"
#include "conv_sizes.h"

namespace ambit::cpu {

/// The grain for `count` items of `work` multiply-adds each of the own convolutions. Few images are
/// worth a second thread sooner than other products: of 2 to 5 us, since these begin at once.
inline int64_t grain_for_taps(int64_t count, int64_t work) {
  const int64_t grain = grain_for_products(work);
  return count < 4 * grain ? ceil_div(grain, 8) : grain;
}

struct ConvPacking {
  explicit ConvPacking(const ConvSizes& g);

  /// Elements of one packed image; what lies behind it may be read, one vector far.
  int64_t image() const { return sizes.C * channel; }
  /// Length of an output channel among the packed rows: o * plane + p * pitch + q for all o, p, q.
  int64_t flat() const { return (sizes.O - 1) * plane + (sizes.P - 1) * pitch + sizes.Q; }
  /// As many images as stay in the cache when packed in numbers of this size; all that need not be.
  int64_t images_at_once(size_t element_size) const;
  /// Whether images lie so before they are packed.
  bool changes_nothing() const {
    constexpr std::array<int64_t, 3> kOnes{1, 1, 1}, kNone{};
    return sizes.stride == kOnes && sizes.padding == kNone;
  }

  ConvSizes sizes;
  int64_t planes, rows, pitch;  // of one phase
  int64_t plane;                // elements of a plane of a phase
  int64_t channel;              // elements of all phases of a channel
  /// Of each tap (c, t, r, s) of a group, in the order of w.
  std::vector<int64_t> offsets;
};

/// Some images at a time of x [N,C,D,H,W], as [C, phases, planes, rows, pitch] each, zero where x
/// has no element. Those that lie so are taken as they are, but for the last one, behind which
/// nothing may be read.
template <class T>
class PackedImages {
 public:
  /// `most` at a time.
  PackedImages(const ConvPacking& packing, const T* x, int64_t most);
  /// Take in images [first, past).
  void take(int64_t first, int64_t past);
  /// One of those.
  const T* image(int64_t n) const { return n < as_they_are_ ? x_ + n * packing_.image() : room(n); }

 private:
  T* room(int64_t n) const {
    return room_.data<T>() + (n - std::max(first_, as_they_are_)) * packing_.image();
  }

  const ConvPacking& packing_;
  const T* x_;
  int64_t as_they_are_;  // so many of all
  int64_t first_ = 0;    // of those taken
  Scratch room_;
};

/// Some images at a time of dy [N,K,O,P,Q] with their rows at multiples of a vector: as they are,
/// or, where copies are worth it, as [K,O,P,pitch] each.
template <class T>
class AlignedRows {
 public:
  /// `most` at a time, each read `times` times: few are not worth a copy, nor are rows of which
  /// more than half would be padding.
  AlignedRows(const ConvSizes& g, const T* dy, int64_t lanes, int64_t most, int64_t times);
  /// Elements from row to row.
  int64_t pitch() const { return pitch_; }
  /// Take in images [first, past).
  void take(int64_t first, int64_t past);
  /// Filter k of one of those.
  const T* filter(int64_t n, int64_t k) const {
    return rows_ + ((n - first_) * sizes_.K + k) * sizes_.O * sizes_.P * pitch_;
  }

 private:
  const ConvSizes& sizes_;
  const T* dy_;
  const bool copies_;
  const int64_t pitch_;
  const Scratch room_;
  const T* rows_;      // of image first_
  int64_t first_ = 0;  // of those taken
};

/// `length` sums over images for each part of these: threads read what they have written before,
/// and no sum depends on their number.
template <class T>
class PartSums {
 public:
  /// `sums` [length] are those of the first part, and of all in the end.
  PartSums(const ConvSizes& g, T* sums, int64_t length);
  /// Call f(sums of a part, its first image, past its last, begin, end) so that of images [first,
  /// past) each part meets all of `items`, which take `work` multiply-adds for an image.
  template <class F>
  void for_items(int64_t first, int64_t past, int64_t items, int64_t work, const F& f) const {
    const int64_t images = past - first;
    const auto image = [&](int64_t part) { return first + images * part / parts_; };
    parallel_for(parts_ * items, grain_for_taps(parts_ * items, ceil_div(images, parts_) * work),
                 [&](int64_t begin, int64_t end) {
                   while (begin < end) {
                     const int64_t part = begin / items, next = (part + 1) * items;
                     f(of(part), image(part), image(part + 1), begin % items,
                       std::min(end, next) - part * items);
                     begin = next;
                   }
                 });
  }
  /// Add all parts up.
  void finish() const;

 private:
  T* of(int64_t part) const { return part == 0 ? sums_ : room_.data<T>() + (part - 1) * length_; }

  T* const sums_;
  const int64_t length_, parts_;
  const Scratch room_;
};

/// The way back for one image: x = packed, without the padding.
template <class T>
void unpack_image(const ConvPacking& packing, T* x, const T* packed);

}  // namespace ambit::cpu
