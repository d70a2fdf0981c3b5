#include "stream.h"

#include "simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/runtime/stream.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

void stream_bytes(void* y, const void* x, size_t bytes) {
  const hn::ScalableTag<uint8_t> d;
  const size_t lanes = hn::Lanes(d);
  auto* to = static_cast<uint8_t*>(y);
  const auto* from = static_cast<const uint8_t*>(x);
  const size_t head = std::min(bytes, -reinterpret_cast<uintptr_t>(y) % lanes);
  std::memcpy(to, from, head);
  size_t i = head;
  for (; i + lanes <= bytes; i += lanes) hn::Stream(hn::LoadU(d, from + i), d, to + i);
  std::memcpy(to + i, from + i, bytes - i);
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(stream_bytes);

// A constant, because sysconf's size of the last-level cache may be ten times the part that one
// core or a virtual machine can use.
bool outgrows_caches(int64_t bytes) {
  constexpr int64_t kCacheBytes = int64_t{1} << 25;
  return bytes >= kCacheBytes;
}

void stream(void* y, const void* x, size_t bytes) {
  HWY_DYNAMIC_DISPATCH(stream_bytes)(y, x, bytes);
}

void end_stream() { hwy::FlushStream(); }

}  // namespace ambit::cpu
#endif
