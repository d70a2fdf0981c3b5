// TensorImpl, and Tensor methods for geometry and identity; methods of ops are in
// tensor_methods.cpp, those for gradients in tensor_autograd.cpp.
#include "core/autograd/autograd_meta.h"
#include "core/memory/destroy_iteratively.h"

#include <ambit/detail/memory_errors.h>
#include <ambit/detail/type_names.h>
#include <ambit/error.h>
#include <ambit/tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <complex>
#include <iostream>
#include <utility>

namespace ambit {
namespace {

bool is_contiguous(IntArrayRef sizes, IntArrayRef strides) {
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0) return true;
    if (sizes[i] != 1 && strides[i] != step) {
      // An empty tensor is contiguous.
      return std::find(sizes.begin(), sizes.begin() + i, 0) != sizes.begin() + i;
    }
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

TensorImpl::TensorImpl(Storage s, IntArrayRef sz, IntArrayRef st, int64_t off, DType d)
    : storage(std::move(s)),
      sizes(sz),
      strides(st),
      offset(off),
      numel(product(sz)),
      device(storage->device()),
      dtype(d),
      contiguous(ambit::is_contiguous(sz, st)) {}

TensorImpl::~TensorImpl() {
  if (autograd && autograd->retains_grad && autograd->grad_fn) {
    const std::lock_guard lock(graph_mutex());
    std::erase_if(NodeHooks::of(*autograd->grad_fn).retain,
                  [this](const auto& r) { return r.second == this; });
  }
}

void TensorImpl::set(Storage s, IntArrayRef sz, IntArrayRef st, int64_t off, DType d) {
  Dims new_sizes(sz), new_strides(st);
  storage = std::move(s);
  sizes = std::move(new_sizes);
  strides = std::move(new_strides);
  offset = off;
  ++replaced;
  numel = product(sizes);
  device = storage->device();
  dtype = d;
  contiguous = ambit::is_contiguous(sizes, strides);
}

void TensorImpl::destroy(TensorImpl* t) noexcept {
  if (!t->autograd) return delete t;  // owns no tensor but its base, which is not a view
  // A gradient, or a tensor captured by a hook, may hold the last reference to another tensor.
  destroy_iteratively(
      t, [](TensorImpl& u) -> TensorImpl*& { return u.autograd->next_to_destroy; },
      [](TensorImpl* u) { delete u; });
}

namespace {

// Convert `dim` to an index of sizes; unlike wrap_dim, refuse 0-dim tensors.
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

// Return *this, unless it and its base hold the only references to the memory.
const Tensor& Tensor::seen() const {
  const TensorImpl& t = *get();
  const bool is_held = t.use_count() > 1 || (t.base && t.base->use_count() > 1) ||
                       t.storage->use_count() > (t.base ? 2u : 1u);
  if (is_held || !t.storage->owns_memory()) return *this;
  throw Error(
      "assignment: expected an element, a row or a view of a tensor, got a copy, so that the "
      "assignment would have no effect; index_put_() and masked_fill_() write through indices and "
      "masks");
}

bool Tensor::is_nonzero() const {
  if (numel() != 1) {
    throw ShapeError(
        fmt::format("is_nonzero: expected a tensor with one element, got shape {}", str(sizes())));
  }
  return is_complex() ? complex_item() != 0. : item().to<bool>();
}

std::string Tensor::toString() const {
  if (!defined()) return "UndefinedType";
  std::string type = device().type();
  for (char& c : type) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return fmt::format("{}{}Type", type, kTypeNames[static_cast<int>(dtype())]);
}

void Tensor::print() const {
  if (defined()) {
    std::cerr << '[' << toString() << ' ' << sizes() << ']' << std::endl;
  } else {
    std::cerr << "[UndefinedTensor]" << std::endl;
  }
}

void Tensor::check_accessor(const char* op, size_t dims, int64_t max_numel) const {
  if (!is_cpu()) {
    throw BackendError(
        fmt::format("{}: expected a tensor on cpu, got one on {}", op, device().str()));
  }
  if (sizes().size() != dims) {
    throw ShapeError(
        fmt::format("{}: expected a tensor of {} dims, got shape {}", op, dims, str(sizes())));
  }
  if (numel() > max_numel) {
    throw ShapeError(
        fmt::format("{}: expected at most {} elements, got {}", op, max_numel, numel()));
  }
}

void Tensor::throw_undefined() { throw Error("expected a defined tensor, got an undefined one"); }

void Tensor::throw_dtype(DType asked) const {
  throw DTypeError(fmt::format("data_ptr: expected {}, the tensor's dtype, got {}",
                               ambit::name(dtype()), ambit::name(asked)));
}

void Tensor::set_data(const Tensor& src) const try {
  if (requires_grad() && !is_differentiable(src.dtype())) {
    throw DTypeError(fmt::format(
        "set_data: expected a floating-point dtype for a tensor that requires grad, got {}",
        ambit::name(src.dtype())));
  }
  TensorImpl& t = *get();
  const TensorImpl& s = *src.get();
  const bool same = t.dtype == s.dtype && t.device == s.device && t.sizes == s.sizes;
  if (!same && t.autograd && t.autograd->grad_fn) {
    // The op that produced this tensor still expects a gradient of the old properties.
    const uint32_t output = t.autograd->output;
    const std::lock_guard lock(graph_mutex());
    std::vector<RecordedOutput>& replaced = NodeHooks::of(*t.autograd->grad_fn).replaced;
    const bool known = std::any_of(replaced.begin(), replaced.end(),
                                   [&](const RecordedOutput& r) { return r.output == output; });
    if (!known) replaced.push_back({output, t.sizes, t.dtype, t.device});
  }
  // A graph that saved this tensor detects the replacement and throws.
  t.set(src.storage(), src.sizes(), src.strides(), src.storage_offset(), src.dtype());
  t.writes = s.writes;
  if (is_unrecorded_view(t)) t.requires_grad = false;
  t.base.reset();
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("set_data");
}

Tensor& Tensor::set_(const Tensor& source, int64_t storage_offset, IntArrayRef size,
                     IntArrayRef stride) {
  const Dims strides = stride.empty() ? contiguous_strides(size) : Dims(stride);
  set_data(source.detach().as_strided(size, strides, storage_offset));
  return *this;
}

Tensor& Tensor::set_() {
  set_data(new_empty({0}));
  return *this;
}

std::string Tensor::name() const try {
  const AutogradMeta* meta = get()->autograd.get();
  if (!meta) return {};
  return meta->scope ? meta->scope->path_to(meta->name) : meta->name;
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("name");
}

void Tensor::set_name(std::string path) const {
  set_name_in_scope(*this, std::move(path), nullptr);
}

void set_name_in_scope(const Tensor& t, std::string name,
                       std::shared_ptr<const NameScope> scope) try {
  t.sizes();  // throws for an undefined tensor
  AutogradMeta& meta = autograd_meta(*t.impl());
  meta.name = std::move(name);
  meta.scope = std::move(scope);
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory("set_name");
}

NameScope::~NameScope() {
  // Iterative, since each scope may hold the last reference to its parent.
  while (parent && parent.use_count() == 1) {
    // use_count() is relaxed. Releasing our reference is an acquire: it orders this thread after
    // all accesses by owners that released theirs before, which may have read or set the parent's
    // parent.
    std::shared_ptr<NameScope>(parent).reset();
    std::shared_ptr<NameScope> next = std::move(parent->parent);
    parent = std::move(next);
  }
}

std::string NameScope::path_to(std::string_view leaf) const {
  std::vector<const std::string*> names;
  for (const NameScope* s = this; s; s = s->parent.get()) {
    if (!s->name.empty()) names.push_back(&s->name);
  }
  std::string path;
  for (size_t i = names.size(); i-- > 0;) path.append(*names[i]).append(1, '.');
  return path.append(leaf);
}

}  // namespace ambit
