#include "overlap.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace ambit {

bool overlaps_itself(const TensorImpl& t) {
  if (t.contiguous || t.numel <= 1) return false;
  std::vector<std::pair<int64_t, int64_t>> dims;  // stride, size
  for (size_t i = 0; i < t.sizes.size(); ++i) {
    if (t.sizes[i] != 1) dims.emplace_back(t.strides[i], t.sizes[i]);
  }
  std::sort(dims.begin(), dims.end());
  int64_t extent = 1;
  for (const auto& [stride, size] : dims) {
    if (stride < extent) return true;
    extent += stride * (size - 1);
  }
  return false;
}

namespace {

// Return the first byte that a tensor touches and the one after the last, relative to its storage.
std::pair<int64_t, int64_t> byte_range(const TensorImpl& t) {
  int64_t last = t.offset;
  for (size_t i = 0; i < t.sizes.size(); ++i) last += (t.sizes[i] - 1) * t.strides[i];
  const auto size = static_cast<int64_t>(element_size(t.dtype));
  return {t.offset * size, (last + 1) * size};
}

// Return true if a sum of steps[i].first * k[i], 0 <= k[i] <= steps[i].second, equals `target`;
// steps in descending order. With nested strides only one or two k must be tried for each step;
// `work` bounds the search for others, which returns true when it runs out.
// Source: numpy/core/src/common/mem_overlap.c.
bool reaches(std::span<const std::pair<int64_t, int64_t>> steps, int64_t target, int& work) {
  if (target == 0) return true;
  int64_t rest = 0, divisor = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    divisor = std::gcd(divisor, steps[i].first);
    if (i > 0) rest += steps[i].first * steps[i].second;
  }
  if (target < 0 || steps.empty() || target % divisor != 0) return false;
  const auto [step, most] = steps[0];
  const int64_t low = target > rest ? (target - rest + step - 1) / step : 0;
  for (int64_t k = low; k <= std::min(most, target / step); ++k) {
    if (--work < 0 || reaches(steps.subspan(1), target - k * step, work)) return true;
  }
  return false;
}

// Return true if a and b share an element: if a.offset + i * a.strides = b.offset + j * b.strides
// has a solution. j counts from its end, so that all terms are positive.
bool shares_elements(const TensorImpl& a, const TensorImpl& b) {
  std::vector<std::pair<int64_t, int64_t>> steps;
  int64_t target = b.offset - a.offset;
  const auto add = [&](const TensorImpl& t) {
    for (size_t i = 0; i < t.sizes.size(); ++i) {
      if (t.sizes[i] > 1 && t.strides[i] > 0) steps.emplace_back(t.strides[i], t.sizes[i] - 1);
    }
  };
  add(b);
  for (const auto& [step, most] : steps) target += step * most;
  add(a);
  std::sort(steps.rbegin(), steps.rend());
  int work = 10'000;
  return reaches(steps, target, work);
}

}  // namespace

bool overlap(const TensorImpl& a, const TensorImpl& b) {
  const auto [a_first, a_last] = byte_range(a);
  const auto [b_first, b_last] = byte_range(b);
  return a_first < b_last && b_first < a_last && (a.dtype != b.dtype || shares_elements(a, b));
}

}  // namespace ambit
