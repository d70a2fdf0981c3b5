// TensorImpl, and the Tensor methods about geometry and identity; the ops' methods are in
// tensor_methods.cpp, those about gradients in tensor_autograd.cpp.
#include "core/autograd/autograd_meta.h"

#include <ambit/error.h>
#include <ambit/tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ambit {
namespace {

bool is_contiguous(IntArrayRef sizes, IntArrayRef strides) {
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0) return true;
    if (sizes[i] != 1 && strides[i] != step) return false;
    step *= sizes[i];
  }
  return true;
}

int64_t product(IntArrayRef sizes) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return n;
}

}  // namespace

TensorImpl::TensorImpl(Storage s, IntArrayRef sz, int64_t n, DType d)
    : storage(std::move(s)), sizes(sz), numel(n), device(storage->device()), dtype(d) {
  strides.resize(sz.size());
  int64_t step = 1;
  for (size_t i = sz.size(); i-- > 0;) {
    strides[i] = step;
    step *= std::max<int64_t>(sz[i], 1);
  }
}

TensorImpl::TensorImpl(Storage s, IntArrayRef sz, IntArrayRef st, int64_t off, DType d) {
  set(std::move(s), sz, st, off, d);
}

TensorImpl::~TensorImpl() {
  if (autograd && autograd->retains_grad && autograd->grad_fn) {
    const std::lock_guard lock(graph_mutex());
    std::erase_if(NodeHooks::of(*autograd->grad_fn).retain,
                  [this](const auto& r) { return r.second == this; });
  }
}

void TensorImpl::set(Storage s, IntArrayRef sz, IntArrayRef st, int64_t off, DType d) {
  storage = std::move(s);
  sizes = sz;
  strides = st;
  offset = off;
  numel = product(sizes);
  device = storage->device();
  dtype = d;
  contiguous = ambit::is_contiguous(sizes, strides);
}

void TensorImpl::destroy(TensorImpl* t) noexcept { delete t; }

namespace {

// Which entry of the sizes `dim` means: wrap_dim, which lets tensors without dims have one, is not
// enough.
size_t entry_of(const char* op, int64_t dim, int64_t ndim) {
  if (ndim == 0) {
    throw IndexError(fmt::format("{}: expected a tensor with dims, got one without", op));
  }
  return static_cast<size_t>(wrap_dim(op, dim, ndim));
}

}  // namespace

int64_t Tensor::size(int64_t dim) const { return sizes()[entry_of("size", dim, this->dim())]; }

int64_t Tensor::stride(int64_t dim) const {
  return strides()[entry_of("stride", dim, this->dim())];
}

void Tensor::throw_undefined() { throw Error("expected a defined tensor, got an undefined one"); }

void Tensor::throw_dtype(DType asked) const {
  throw DTypeError(fmt::format("data_ptr: expected {}, the tensor's dtype, got {}",
                               ambit::name(dtype()), ambit::name(asked)));
}

void Tensor::set_data(const Tensor& src) const {
  if (requires_grad() && !src.is_floating_point()) {
    throw DTypeError(fmt::format(
        "set_data: expected a floating-point dtype for a tensor that requires grad, got {}",
        ambit::name(src.dtype())));
  }
  // A live graph that saved this tensor sees another storage, and complains instead of mixing.
  get()->set(src.storage(), src.sizes(), src.strides(), src.storage_offset(), src.dtype());
}

const std::string& Tensor::name() const {
  static const std::string kNone;
  return get()->autograd ? impl_->autograd->name : kNone;
}

void Tensor::set_name(std::string path) const {
  get();
  autograd_meta(*impl_).name = std::move(path);
}

}  // namespace ambit
