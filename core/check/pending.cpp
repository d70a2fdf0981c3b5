#include "pending.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

namespace ambit::check {
namespace {

bool has_changed(const PendingCopy& copy) {
  return copy.to_device && hash_of(copy.host, copy.bytes) != copy.contents;
}

bool overlaps(const PendingCopy& copy, const void* memory, size_t bytes) {
  const auto* begin = static_cast<const char*>(memory);
  return copy.host < begin + bytes && begin < copy.host + copy.bytes;
}

}  // namespace

size_t hash_of(const void* data, size_t bytes) {
  constexpr size_t kMost = 1 << 20;
  return std::hash<std::string_view>()({static_cast<const char*>(data), std::min(bytes, kMost)}) |
         1;
}

PendingCopies& PendingCopies::get() {
  static auto* const copies = new PendingCopies;
  return *copies;
}

void PendingCopies::add(PendingCopy copy) {
  if (copy.to_device) copy.contents = hash_of(copy.host, copy.bytes);
  const std::lock_guard lock(mutex_);
  copies_.push_back(std::move(copy));
}

// Remove the selected copies; return those to report.
template <class Select, class Report>
std::vector<PendingCopy> PendingCopies::take(const Select& select, const Report& report) {
  std::vector<PendingCopy> reported;
  const std::lock_guard lock(mutex_);
  std::erase_if(copies_, [&](const PendingCopy& copy) {
    if (!select(copy)) return false;
    if (report(copy)) reported.push_back(copy);
    return true;
  });
  return reported;
}

std::vector<PendingCopy> PendingCopies::finish(Device device) {
  return take([&](const PendingCopy& c) { return c.device == device; }, has_changed);
}

std::vector<PendingCopy> PendingCopies::read(Device device, const void* host) {
  return take(
      [&](const PendingCopy& c) {
        return c.device == device && !c.to_device && overlaps(c, host, 1);
      },
      [](const PendingCopy&) { return true; });
}

std::vector<PendingCopy> PendingCopies::forget(const void* memory, size_t bytes) {
  return take([&](const PendingCopy& c) { return overlaps(c, memory, bytes); }, has_changed);
}

std::vector<PendingCopy> PendingCopies::written(const void* memory, size_t bytes) {
  return take([&](const PendingCopy& c) { return c.to_device && overlaps(c, memory, bytes); },
              [](const PendingCopy&) { return true; });
}

}  // namespace ambit::check
