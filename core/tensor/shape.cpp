// Arithmetic on shapes that every op shares.
#include <ambit/detail/memory_errors.h>
#include <ambit/error.h>
#include <ambit/shape.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <ostream>

namespace ambit {

void throw_outside_array(size_t index, size_t size) {
  throw IndexError(fmt::format("ArrayRef: expected an index below {}, got {}", size, index));
}

void Dims::reserve(size_t n) {
  if (n > std::numeric_limits<uint32_t>::max() / 2) {
    throw ShapeError(fmt::format("Dims: expected fewer than 2^31 dims, got {}", n));
  }
  const auto capacity = static_cast<uint32_t>(std::max<size_t>(n, 2 * size_t{capacity_}));
  std::unique_ptr<int64_t[]> block(new (std::nothrow) int64_t[capacity]());
  if (!block) throw_out_of_host_memory("Dims");
  std::copy(begin(), end(), block.get());
  if (capacity_ > kInline) delete[] heap_;
  heap_ = block.release();
  capacity_ = capacity;
}

std::string str(IntArrayRef sizes) {
  return fmt::format("[{}]", fmt::join(sizes.begin(), sizes.end(), ", "));
}

std::ostream& operator<<(std::ostream& os, IntArrayRef sizes) { return os << str(sizes); }

namespace {

// A separate function, because count() is called for every new tensor.
[[noreturn, gnu::noinline]] void refuse_sizes(const char* op, IntArrayRef sizes) {
  bool zero = false;
  for (const int64_t s : sizes) {
    if (s < 0) throw ShapeError(fmt::format("{}: expected sizes >= 0, got {}", op, str(sizes)));
    zero |= s == 0;
  }
  throw ShapeError(fmt::format("{}: expected fewer than 2^63 elements, {}got sizes {}", op,
                               zero ? "were none of the sizes 0, " : "", str(sizes)));
}

}  // namespace

int64_t count(const char* op, IntArrayRef sizes) {
  int64_t n = 1;
  bool zero = false, refused = false;
  for (const int64_t s : sizes) {
    zero |= s == 0;
    // Checked even if another size is 0, so that values like strides never overflow.
    refused |= s < 0 || __builtin_mul_overflow(n, std::max<int64_t>(s, 1), &n);
  }
  if (refused) refuse_sizes(op, sizes);
  return zero ? 0 : n;
}

Dims contiguous_strides(IntArrayRef sizes) {
  Dims strides(sizes.size());
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = step;
    step *= std::max<int64_t>(sizes[i], 1);
  }
  return strides;
}

Dims broadcast(const char* op, IntArrayRef a, IntArrayRef b) {
  const IntArrayRef longer = a.size() >= b.size() ? a : b, shorter = a.size() >= b.size() ? b : a;
  const size_t lead = longer.size() - shorter.size();
  Dims out(longer);
  for (size_t i = 0; i < shorter.size(); ++i) {
    const int64_t s = shorter[i];
    int64_t& o = out[lead + i];
    if (o == 1) {
      o = s;
    } else if (s != 1 && s != o) {
      throw ShapeError(fmt::format("{}: expected shapes that broadcast together, got {} and {}", op,
                                   str(a), str(b)));
    }
  }
  return out;
}

int64_t wrap_dim(const char* op, int64_t dim, int64_t ndim) {
  const int64_t range = std::max<int64_t>(ndim, 1);
  if (dim < -range || dim >= range) {
    throw IndexError(fmt::format("{}: expected a dim in [{}, {}), got {}", op, -range, range, dim));
  }
  return dim < 0 ? dim + range : dim;
}

}  // namespace ambit
