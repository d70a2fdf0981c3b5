#include "operand.h"

#include <ambit/half.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "faults.h"
#include "tests/cuda/host/queue.h"

namespace ambit::cuda::host {
namespace {

struct Dim {
  int64_t size, stride;
};

// The dims with more than one element, from the innermost.
std::vector<Dim> sorted_dims(const Operand& o) {
  std::vector<Dim> dims;
  for (size_t d = 0; d < o.sizes.size(); ++d) {
    if (o.sizes[d] > 1) dims.push_back({o.sizes[d], o.strides[d]});
  }
  std::sort(dims.begin(), dims.end(),
            [](const Dim& a, const Dim& b) { return a.stride < b.stride; });
  return dims;
}

// Call visit(offset, length) for every stretch of memory without a gap, in elements.
template <class Visit>
void for_each_run(const Operand& o, const Visit& visit) {
  std::vector<Dim> dims = sorted_dims(o);
  std::erase_if(dims, [](const Dim& d) { return d.stride == 0; });
  int64_t run = 1;
  size_t outer = 0;
  while (outer < dims.size() && dims[outer].stride == run) run *= dims[outer++].size;
  std::vector<int64_t> index(dims.size(), 0);
  for (int64_t offset = 0;;) {
    visit(offset, run);
    size_t d = outer;
    for (; d < dims.size(); ++d) {
      offset += dims[d].stride;
      if (++index[d] < dims[d].size) break;
      offset -= dims[d].stride * dims[d].size;
      index[d] = 0;
    }
    if (d == dims.size()) return;
  }
}

// Call visit(offset) for the first element of every row, in row-major order.
template <class Visit>
void for_each_row(const Operand& o, const Visit& visit) {
  const size_t rows = o.sizes.size() - 1;
  std::vector<int64_t> index(rows, 0);
  for (int64_t offset = 0;;) {
    visit(offset);
    size_t d = rows;
    for (; d > 0; --d) {
      offset += o.strides[d - 1];
      if (++index[d - 1] < o.sizes[d - 1]) break;
      offset -= o.strides[d - 1] * o.sizes[d - 1];
      index[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

}  // namespace

int64_t Operand::numel() const {
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  return n;
}

size_t Operand::extent_bytes() const {
  int64_t last = 0;
  for (size_t d = 0; d < sizes.size(); ++d) last += (sizes[d] - 1) * strides[d];
  return static_cast<size_t>(last + 1) * bytes_of(element);
}

namespace {

// Call run.operator()<E>() with the type of the elements in memory, which are converted to T.
template <class T, class Run>
void visit_element(Element element, const Run& run) {
  if constexpr (sizeof(T) == sizeof(double)) {
    run.template operator()<double>();
  } else if (element == Element::float16) {
    run.template operator()<Half>();
  } else if (element == Element::bfloat16) {
    run.template operator()<BFloat16>();
  } else {
    run.template operator()<float>();
  }
}

template <class T, class E>
std::vector<T> load_as(const Operand& from) {
  const E* data = static_cast<const E*>(from.data);
  for_each_run(from, [&](int64_t offset, int64_t length) {
    check_read(data + offset, static_cast<size_t>(length) * sizeof(E));
  });
  std::vector<T> values(static_cast<size_t>(from.numel()));
  const int64_t length = from.sizes.back(), step = from.strides.back();
  T* to = values.data();
  for_each_row(from, [&](int64_t offset) {
    for (int64_t i = 0; i < length; ++i) to[i] = data[offset + i * step];
    to += length;
  });
  return values;
}

template <class E, class T>
void store_as(const Operand& to, const std::vector<T>& values) {
  E* data = static_cast<E*>(to.data);
  for_each_run(to, [&](int64_t offset, int64_t length) {
    check_write(data + offset, static_cast<size_t>(length) * sizeof(E));
  });
  const int64_t length = to.sizes.back(), step = to.strides.back();
  const T* from = values.data();
  for_each_row(to, [&](int64_t offset) {
    for (int64_t i = 0; i < length; ++i) data[offset + i * step] = static_cast<E>(from[i]);
    from += length;
  });
}

}  // namespace

template <class T>
std::vector<T> load(const Operand& from) {
  std::vector<T> values;
  visit_element<T>(from.element, [&]<class E>() { values = load_as<T, E>(from); });
  return values;
}
template std::vector<float> load(const Operand& from);
template std::vector<double> load(const Operand& from);

template <class T>
void store(const Operand& to, const std::vector<T>& values) {
  visit_element<T>(to.element, [&]<class E>() { store_as<E>(to, values); });
}
template void store(const Operand& to, const std::vector<float>& values);
template void store(const Operand& to, const std::vector<double>& values);

template <class T>
T rounded(T x, Element element) {
  visit_element<T>(element, [&]<class E>() { x = static_cast<T>(static_cast<E>(x)); });
  return x;
}
template float rounded(float x, Element element);
template double rounded(double x, Element element);

void expect_apart(const std::string& call, const Operand& written, const Operand& read) {
  const auto w = reinterpret_cast<uintptr_t>(written.data);
  const auto r = reinterpret_cast<uintptr_t>(read.data);
  if (w < r + read.extent_bytes() && r < w + written.extent_bytes()) {
    misuse(call + ": expected a result apart from the operands, got one that overlaps them");
  }
}

void expect_no_overlap(const std::string& call, const Operand& written) {
  int64_t extent = 1;
  for (const Dim& d : sorted_dims(written)) {
    if (d.stride < extent) misuse(call + ": expected a result whose elements lie apart");
    extent = d.stride * (d.size - 1) + extent;
  }
}

void scribble(void* workspace, size_t bytes) {
  if (bytes == 0) return;
  check_write(workspace, bytes);
  std::memset(workspace, 0xff, bytes);  // NaN as float and as double
}

float round_to_tf32(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  constexpr uint32_t kExponent = 0x7f800000;
  if ((bits & kExponent) == kExponent) return x;
  return std::bit_cast<float>((bits + 0x1000) & ~uint32_t{0x1fff});
}

}  // namespace ambit::cuda::host
