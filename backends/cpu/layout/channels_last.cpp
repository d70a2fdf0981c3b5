#include "channels_last.h"

#include <algorithm>

#include "backends/cpu/runtime/parallel.h"

namespace ambit::cpu {
namespace {

constexpr int32_t kChannelsLast = 1;

/// The layout of t [N,C,H,W]; undoing it takes N, C and H * W.
PhysicalLayout layout_of(const Tensor& t) {
  const IntArrayRef s = t.sizes();
  return {kChannelsLast, static_cast<uint32_t>(element_size(t.dtype())), {s[0], s[1], s[2] * s[3]}};
}

/// Whether t may lie so: a whole block of floats, or of positions as large.
bool may_be_laid_out(const Tensor& t) {
  return t.dim() == 4 && t.is_contiguous() && t.storage_offset() == 0 &&
         t.nbytes() == t.storage()->size_bytes() && element_size(t.dtype()) == sizeof(int32_t);
}

Dims channels_last_strides(IntArrayRef s) { return {s[1] * s[2] * s[3], 1, s[3] * s[1], s[1]}; }

/// An alias of memory that outlives it, with t's sizes and dtype.
Tensor alias(const Tensor& t, Storage storage, IntArrayRef strides) {
  return Tensor(intrusive_ptr<TensorImpl>(
      new TensorImpl(std::move(storage), t.sizes(), strides, 0, t.dtype())));
}
Tensor alias(const Tensor& t, void* data, IntArrayRef strides) {
  return alias(t, Storage(new StorageImpl(data, t.nbytes(), {})), strides);
}

/// to [columns, rows] = from [rows, columns], in squares that stay in the first-level cache.
void transpose(int32_t* to, const int32_t* from, int64_t rows, int64_t columns) {
  constexpr int64_t kSide = 16;
  for (int64_t r = 0; r < rows; r += kSide) {
    const int64_t r_end = std::min(rows, r + kSide);
    for (int64_t c = 0; c < columns; c += kSide) {
      const int64_t c_end = std::min(columns, c + kSide);
      for (int64_t j = c; j < c_end; ++j) {
        for (int64_t i = r; i < r_end; ++i) to[j * rows + i] = from[i * columns + j];
      }
    }
  }
}

/// The same for n matrices one behind the other.
void transpose(int64_t n, void* to, const void* from, int64_t rows, int64_t columns) {
  const int64_t one = rows * columns;
  auto* const y = static_cast<int32_t*>(to);
  const auto* const x = static_cast<const int32_t*>(from);
  parallel_for(n, grain_for(one), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) transpose(y + i * one, x + i * one, rows, columns);
  });
}

}  // namespace

void channels_last_to_row_major(void* to, const void* from, const PhysicalLayout& layout) {
  const auto [n, channels, pixels] = layout.sizes;
  transpose(n, to, from, pixels, channels);
}

bool layout_is_of(const Tensor& t) {
  return may_be_laid_out(t) && t.storage()->layout() == layout_of(t);
}

bool has_channels_last_strides(const Tensor& t) {
  return t.dim() == 4 && std::ranges::equal(t.strides(), channels_last_strides(t.sizes()));
}

Tensor laid_out_for_writing(const Tensor& y) {
  const Storage& storage = y.storage();
  if (may_be_laid_out(y) && storage->adopt(layout_of(y))) {
    return alias(y, storage->laid_out(), channels_last_strides(y.sizes()));
  }
  storage->data();  // row-major from now on, before any input is held
  return y;
}

// Delegating, so that the destructor releases what is held where an alias finds no memory.
InputsAsTheyLie::InputsAsTheyLie(std::initializer_list<const Tensor*> inputs) : InputsAsTheyLie() {
  // First those that must be row-major: who holds a block must not ask for the data of another.
  for (const Tensor* t : inputs) {
    if (t->defined() && !is_channels_last(*t)) t->storage()->data();
  }
  size_t i = 0;
  for (const Tensor* t : inputs) {
    tensors_[i] = *t;
    if (t->defined() && t->storage()->hold()) {
      held_[i] = t->storage().get();
      tensors_[i] = alias(*t, held_[i]->laid_out(), channels_last_strides(t->sizes()));
    }
    ++i;
  }
}

InputsAsTheyLie::~InputsAsTheyLie() {
  for (const StorageImpl* storage : held_) {
    if (storage) storage->release();
  }
}

const Tensor& InputsAsTheyLie::channels_last(size_t i) {
  Tensor& t = tensors_[i];
  if (held_[i]) return t;
  const IntArrayRef s = t.sizes();
  Storage storage(new StorageImpl(kCPU, t.nbytes()));
  transpose(s[0], storage->data(), t.data_ptr(), s[1], s[2] * s[3]);
  t = alias(t, std::move(storage), channels_last_strides(s));
  return t;
}

}  // namespace ambit::cpu
