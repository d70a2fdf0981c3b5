#include "native_scope.h"

#include <ambit/backend/alias.h>

#include <cassert>
#include <utility>

#include "channels_last.h"

namespace ambit::cpu {
namespace {

Tensor native_alias(const Tensor& t) {
  return alias(t, Storage(new StorageImpl(t.storage()->native_data(), t.nbytes(), {})),
               channels_last_strides(t.sizes()));
}

Tensor channels_last_copy(const Tensor& x) {
  Storage storage(new StorageImpl(kCPU, x.nbytes()));
  row_major_to_channels_last(storage->data(), x);
  return alias(x, std::move(storage), channels_last_strides(x.sizes()));
}

}  // namespace

NativeScope::NativeScope(const Operands& operands) {
  assert(operands.outputs.size() <= kMost && operands.inputs.size() <= kMost);
  size_t i = 0;
  for (const Tensor* y : operands.outputs) add_output(i++, *y);
  for (const Tensor* t : operands.row_major) {
    if (t->defined()) t->storage()->make_row_major();
  }
  for (const Tensor* x : operands.inputs) {
    if (x->defined() && !is_channels_last(*x)) x->storage()->make_row_major();
  }
  i = 0;
  const bool follow = operands.inputs_follow && native_outputs_;
  for (const Tensor* x : operands.inputs) add_input(i++, *x, follow);
}

void NativeScope::add_output(size_t i, const Tensor& y) {
  outputs_[i] = y;
  if (!y.defined()) return;
  if (may_be_channels_last(y) && y.storage()->adopt(channels_last_layout(y))) {
    outputs_[i] = native_alias(y);
  } else {
    y.storage()->make_row_major();
    native_outputs_ = false;
  }
}

void NativeScope::add_input(size_t i, const Tensor& x, bool follows) {
  if (x.defined() && readers_[i].acquire(x.storage().get())) {
    inputs_[i] = native_alias(x);
  } else if (x.defined() && follows && x.is_contiguous()) {
    inputs_[i] = channels_last_copy(x);
  } else {
    inputs_[i] = x;
  }
}

}  // namespace ambit::cpu
