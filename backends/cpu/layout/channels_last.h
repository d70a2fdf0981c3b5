// The one physical layout of this backend: images [N,C,H,W] with the channels innermost, in which
// oneDNN's convolutions are fastest. core/include/ambit/storage.h says what a physical layout is;
// kernels see this one as strides.
#pragma once

#include <ambit/tensor.h>

#include <array>
#include <initializer_list>

namespace ambit::cpu {

/// Whether the layout of t's storage is that of t, a batch of images [N,C,H,W].
bool layout_is_of(const Tensor& t);
/// Whether t is a batch of images whose storage lies channels-last.
inline bool is_channels_last(const Tensor& t) {
  return t.storage()->is_laid_out() && layout_is_of(t);
}

/// Write a block that lies channels-last to `to` in row-major order.
void channels_last_to_row_major(void* to, const void* from, const PhysicalLayout& layout);

/// Let the calling kernel write y [N,C,H,W] channels-last: return an alias of it with such strides,
/// or y itself where it has to be row-major.
Tensor laid_out_for_writing(const Tensor& y);

/// The inputs of one kernel as their elements lie: those that lie channels-last have the strides of
/// that, and stay so while this object lives. Undefined ones stay undefined. Make it after all
/// outputs.
class InputsAsTheyLie {
 public:
  static constexpr size_t kMost = 3;
  InputsAsTheyLie(std::initializer_list<const Tensor*> inputs);
  ~InputsAsTheyLie();
  InputsAsTheyLie(const InputsAsTheyLie&) = delete;
  InputsAsTheyLie& operator=(const InputsAsTheyLie&) = delete;

  const Tensor& operator[](size_t i) const { return tensors_[i]; }

  /// Bring input i [N,C,H,W] to channels-last, by way of a copy if it is row-major.
  const Tensor& channels_last(size_t i);

 private:
  InputsAsTheyLie() = default;

  std::array<Tensor, kMost> tensors_;
  std::array<const StorageImpl*, kMost> held_{};
};

/// Whether the elements of t, by its strides, lie channels-last.
bool has_channels_last_strides(const Tensor& t);

}  // namespace ambit::cpu
