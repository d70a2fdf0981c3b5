// Splitting of a tensor into a list of views along a dim.
#include <ambit/backend/registry.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/error.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/ops/operands/expect.h"
#include "part.h"

namespace ambit {
namespace {

// Return an empty list with capacity for n parts. Throws before any part is created if the host
// cannot hold them: a broadcast view may have any number of elements.
std::vector<Tensor> allocate_list(const char* op, uint64_t n) {
  constexpr uint64_t kFew =
      100'000;  // for fewer parts, skip the query of the system's memory, which needs 40 us
  const uint64_t most = n <= kFew ? n
                                  : backend_of(kCPU).properties(0).total_memory /
                                        (sizeof(Tensor) + sizeof(TensorImpl));
  if (n > most) {
    throw OutOfMemoryError(fmt::format(
        "{}: expected parts that host memory has room for, {} at most, got {}", op, most, n));
  }
  std::vector<Tensor> parts;
  typed_memory_errors(op, [&] { parts.reserve(n); });
  return parts;
}

}  // namespace

std::vector<Tensor> unbind(const Tensor& self, int64_t dim) {
  const size_t d = index_of("unbind", dim, self);
  const int64_t n = self.sizes()[d];
  std::vector<Tensor> parts = allocate_list("unbind", static_cast<uint64_t>(n));
  for (int64_t i = 0; i < n; ++i) parts.push_back(select(self, dim, i));
  return parts;
}

namespace {

std::vector<Tensor> split_evenly(const char* op, const Tensor& self, int64_t split_size,
                                 int64_t dim) {
  const size_t d = index_of(op, dim, self);
  const int64_t size = self.sizes()[d];
  if (split_size < 0 || (split_size == 0 && size > 0)) {
    throw ShapeError(fmt::format("{}: expected a split size > 0, got {}", op, split_size));
  }
  if (size == 0) return {narrow(self, dim, 0, 0)};
  const int64_t n = (size - 1) / split_size + 1;
  std::vector<Tensor> parts = allocate_list(op, static_cast<uint64_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    const int64_t start = i * split_size;
    parts.push_back(narrow(self, dim, start, std::min(split_size, size - start)));
  }
  return parts;
}

std::vector<Tensor> split_by_sizes(const char* op, const Tensor& self, IntArrayRef split_sizes,
                                   int64_t dim) {
  const size_t d = index_of(op, dim, self);
  const int64_t size = self.sizes()[d];
  int64_t left = size;
  for (const int64_t s : split_sizes) left = s < 0 || s > left ? -1 : left - s;
  if (left != 0) {
    throw ShapeError(
        fmt::format("{}: expected sizes >= 0 that sum to {}, got {}", op, size, str(split_sizes)));
  }
  std::vector<Tensor> parts = allocate_list(op, split_sizes.size());
  int64_t start = 0;
  for (const int64_t s : split_sizes) {
    parts.push_back(narrow(self, dim, start, s));
    start += s;
  }
  return parts;
}

// The number of empty parts is bounded only by memory.
int64_t checked_empty_parts(const char* op, int64_t n) {
  constexpr int64_t kMost = 1 << 20;
  if (n > kMost) {
    throw ShapeError(
        fmt::format("{}: expected at most {} parts where most are empty, got {}", op, kMost, n));
  }
  return n;
}

std::vector<Tensor> chunk(const char* op, const Tensor& self, int64_t chunks, int64_t dim) try {
  const size_t d = index_of(op, dim, self);
  const int64_t size = self.sizes()[d];
  if (chunks < 1) throw ShapeError(fmt::format("{}: expected chunks > 0, got {}", op, chunks));
  // A dim of size 0 gives exactly `chunks` empty chunks.
  if (size == 0) {
    const std::vector<int64_t> none(static_cast<size_t>(checked_empty_parts(op, chunks)), 0);
    return split_by_sizes(op, self, none, dim);
  }
  return split_evenly(op, self, (size - 1) / chunks + 1, dim);
} catch (const std::bad_alloc&) {
  throw_out_of_host_memory(op);
}

std::vector<Tensor> split_in_sections(const char* op, const Tensor& self, int64_t sections,
                                      int64_t dim) {
  const size_t d = index_of(op, dim, self);
  const int64_t size = self.sizes()[d];
  if (sections < 1) {
    throw ShapeError(fmt::format("{}: expected sections > 0, got {}", op, sections));
  }
  if (sections > size) checked_empty_parts(op, sections);
  const int64_t each = size / sections, longer = size % sections;
  std::vector<Tensor> parts = allocate_list(op, static_cast<uint64_t>(sections));
  int64_t start = 0;
  for (int64_t i = 0; i < sections; ++i) {
    const int64_t length = each + (i < longer);
    parts.push_back(narrow(self, dim, start, length));
    start += length;
  }
  return parts;
}

std::vector<Tensor> split_at(const char* op, const Tensor& self, IntArrayRef indices, int64_t dim) {
  const size_t d = index_of(op, dim, self);
  const int64_t size = self.sizes()[d];
  std::vector<Tensor> parts = allocate_list(op, indices.size() + 1);
  int64_t start = 0;
  for (const int64_t end : indices) {
    parts.push_back(slice(self, dim, start, end));
    start = end;
  }
  parts.push_back(slice(self, dim, start, size));
  return parts;
}

// Return the dim that hsplit and similar split, for a tensor with at least `dims` dims.
int64_t checked_axis(const char* op, const Tensor& self, int64_t dims, int64_t axis) {
  expect_defined(op, "self", self);
  if (self.dim() >= dims) return axis;
  throw ShapeError(
      fmt::format("{}: expected {} dims at least, got shape {}", op, dims, str(self.sizes())));
}

int64_t horizontal_axis(const Tensor& self) {
  checked_axis("hsplit", self, 1, 0);
  return self.dim() == 1 ? 0 : 1;
}

std::vector<Tensor> split_exactly(const char* op, const Tensor& self, int64_t sections,
                                  int64_t dim) {
  if (sections < 1 || self.size(dim) % sections != 0) {
    throw ShapeError(fmt::format("{}: expected sections that divide the size {} of dim {}, got {}",
                                 op, self.size(dim), dim, sections));
  }
  return split_in_sections(op, self, sections, dim);
}

}  // namespace

std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim) {
  return split_evenly("split", self, split_size, dim);
}

std::vector<Tensor> split(const Tensor& self, IntArrayRef split_sizes, int64_t dim) {
  return split_by_sizes("split", self, split_sizes, dim);
}

std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  return chunk("chunk", self, chunks, dim);
}

std::vector<Tensor> split_with_sizes(const Tensor& self, IntArrayRef split_sizes, int64_t dim) {
  return split_by_sizes("split_with_sizes", self, split_sizes, dim);
}

std::vector<Tensor> unsafe_split(const Tensor& self, int64_t split_size, int64_t dim) {
  return split_evenly("unsafe_split", self, split_size, dim);
}

std::vector<Tensor> unsafe_split_with_sizes(const Tensor& self, IntArrayRef split_sizes,
                                            int64_t dim) {
  return split_by_sizes("unsafe_split_with_sizes", self, split_sizes, dim);
}

std::vector<Tensor> unsafe_chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  return chunk("unsafe_chunk", self, chunks, dim);
}

std::vector<Tensor> tensor_split(const Tensor& self, int64_t sections, int64_t dim) {
  return split_in_sections("tensor_split", self, sections, dim);
}

std::vector<Tensor> tensor_split(const Tensor& self, IntArrayRef indices, int64_t dim) {
  return split_at("tensor_split", self, indices, dim);
}

std::vector<Tensor> tensor_split(const Tensor& self, const Tensor& tensor_indices_or_sections,
                                 int64_t dim) {
  const char* op = "tensor_split";
  const Tensor& where = tensor_indices_or_sections;
  index_of(op, dim, self);
  expect_dtype(op, "tensor_indices_or_sections", where, kInt64);
  if (where.dim() > 1) {
    throw ShapeError(
        fmt::format("{}: expected tensor_indices_or_sections to be a number or a vector, got {}",
                    op, str(where.sizes())));
  }
  if (where.dim() == 0) return split_in_sections(op, self, where.item<int64_t>(), dim);
  const Tensor list = contiguous(where.cpu());
  return split_at(op, self, {list.data_ptr<int64_t>(), static_cast<size_t>(list.numel())}, dim);
}

std::vector<Tensor> hsplit(const Tensor& self, int64_t sections) {
  return split_exactly("hsplit", self, sections, horizontal_axis(self));
}

std::vector<Tensor> hsplit(const Tensor& self, IntArrayRef indices) {
  return split_at("hsplit", self, indices, horizontal_axis(self));
}

std::vector<Tensor> vsplit(const Tensor& self, int64_t sections) {
  return split_exactly("vsplit", self, sections, checked_axis("vsplit", self, 2, 0));
}

std::vector<Tensor> vsplit(const Tensor& self, IntArrayRef indices) {
  return split_at("vsplit", self, indices, checked_axis("vsplit", self, 2, 0));
}

std::vector<Tensor> dsplit(const Tensor& self, int64_t sections) {
  return split_exactly("dsplit", self, sections, checked_axis("dsplit", self, 3, 2));
}

std::vector<Tensor> dsplit(const Tensor& self, IntArrayRef indices) {
  return split_at("dsplit", self, indices, checked_axis("dsplit", self, 3, 2));
}

}  // namespace ambit
