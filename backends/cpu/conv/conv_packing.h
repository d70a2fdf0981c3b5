// Layout of images for our own convolutions: every filter tap reads contiguous data. Each channel
// is padded, and with strides other than 1 split into "phases", as many volumes as the product of
// the strides, each of every stride-th element. Output (o, p, q) and tap (c, t, r, s) use
//   packed[offset(c, t, r, s) + o * plane + p * pitch + q].
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/scratch.h"
#include "conv_sizes.h"

namespace ambit::cpu {

/// Return the grain for `count` items of `work` multiply-adds each. With few images a second thread
/// pays earlier than for products, at 2 to 5 us, because packing and summing start immediately.
inline int64_t grain_for_taps(int64_t count, int64_t work) {
  const int64_t grain = grain_for_products(work);
  return count < 4 * grain ? ceil_div(grain, 8) : grain;
}

struct ConvPacking {
  explicit ConvPacking(const ConvSizes& g);

  /// Elements of one packed image; one vector past its end may be read.
  int64_t image() const { return sizes.C * channel; }
  /// Length of an output channel in packed rows: o * plane + p * pitch + q for all o, p, q.
  int64_t flat() const { return (sizes.O - 1) * plane + (sizes.P - 1) * pitch + sizes.Q; }
  /// Return how many packed images of this element size fit in the cache; all if in place.
  int64_t images_at_once(size_t element_size) const;
  /// Return true if packing is not needed.
  bool changes_nothing() const {
    constexpr std::array<int64_t, 3> kOnes{1, 1, 1}, kNone{};
    return sizes.stride == kOnes && sizes.padding == kNone;
  }

  ConvSizes sizes;
  int64_t planes, rows, pitch;  // of one phase
  int64_t plane;                // elements of a plane of a phase
  int64_t channel;              // elements of all phases of a channel
  /// Offset of each tap (c, t, r, s) of a group, in the order of w.
  std::vector<int64_t> offsets;
};

/// Some images at a time of x [N,C,D,H,W], each packed as [C, phases, planes, rows, pitch], zero
/// outside of x. Images that need no packing are used in place, except the last ones, after which
/// memory must not be read.
template <class T>
class PackedImages {
 public:
  /// `most`: maximal number of images at a time.
  PackedImages(const ConvPacking& packing, const T* x, int64_t most);
  /// Pack images [first, past).
  void take(int64_t first, int64_t past);
  /// Return a packed image; n is in [first, past).
  const T* image(int64_t n) const { return n < in_place_ ? x_ + n * packing_.image() : room(n); }

 private:
  T* room(int64_t n) const {
    return room_.data<T>() + (n - std::max(first_, in_place_)) * packing_.image();
  }

  const ConvPacking& packing_;
  const T* x_;
  int64_t in_place_;   // number of images used in place
  int64_t first_ = 0;  // first packed image
  Scratch room_;
};

/// Some images at a time of dy [N,K,O,P,Q] whose rows have a pitch of whole vectors: in place, or,
/// if it is worth it, copied to [K,O,P,pitch] each.
template <class T>
class AlignedRows {
 public:
  /// At most `most` images at a time, each read `times` times. A copy is not made for few reads,
  /// nor if more than half of each row would be padding.
  AlignedRows(const ConvSizes& g, const T* dy, int64_t lanes, int64_t most, int64_t times);
  /// Return the distance between rows in elements.
  int64_t pitch() const { return pitch_; }
  /// Prepare images [first, past).
  void take(int64_t first, int64_t past);
  /// Return filter k of image n, which is in [first, past).
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
  int64_t first_ = 0;  // first prepared image
};

/// Partial sums of `length` elements over parts of the images. Each thread reads images that it has
/// packed itself, and no sum depends on the number of threads.
template <class T>
class PartSums {
 public:
  /// `sums` [length]: sums of the first part, and finally of all parts.
  PartSums(const ConvSizes& g, T* sums, int64_t length);
  /// Call f(sums of a part, its first image, past its last, begin, end) so that each part of the
  /// images [first, past) covers all `items`, which cost `work` multiply-adds per image.
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
  /// Add the sums of all parts.
  void finish() const;

 private:
  T* of(int64_t part) const { return part == 0 ? sums_ : room_.data<T>() + (part - 1) * length_; }

  T* const sums_;
  const int64_t length_, parts_;
  const Scratch room_;
};

/// Inverse of packing for one image: x = packed without the padding.
template <class T>
void unpack_image(const ConvPacking& packing, T* x, const T* packed);

}  // namespace ambit::cpu
