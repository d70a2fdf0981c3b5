// Sorting the items of one line: stable LSD radix sort, or std::sort for few items.
#pragma once

#include <ambit/backend/sort_key.h>

#include <algorithm>
#include <array>

namespace ambit::cpu {

/// An element of a line: its sort key and its original position.
template <class Key, class Place>
struct Item {
  Key key;
  Place place;
  friend bool operator<(const Item& a, const Item& b) {
    return a.key != b.key ? a.key < b.key : a.place < b.place;
  }
};

/// One pass per digit of kBits, except digits that are equal in all keys.
template <int kBits, class Key, class Place>
Item<Key, Place>* sort_by_digits(Item<Key, Place>* from, Item<Key, Place>* to, int64_t n) {
  constexpr int kKeyBits = 8 * sizeof(Key), kPasses = (kKeyBits + kBits - 1) / kBits;
  constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;
  const auto digit = [](Key key, int pass) { return (uint64_t{key} >> (pass * kBits)) & kMask; };
  std::array<std::array<Place, kMask + 1>, kPasses> starts{};
  for (int64_t i = 0; i < n; ++i) {
    for (int pass = 0; pass < kPasses; ++pass) {
      ++starts[static_cast<size_t>(pass)][digit(from[i].key, pass)];
    }
  }
  for (int pass = 0; pass < kPasses; ++pass) {
    auto& start = starts[static_cast<size_t>(pass)];
    if (start[digit(from[0].key, pass)] == static_cast<Place>(n)) continue;
    Place next = 0;
    for (Place& s : start) {
      const Place count = s;
      s = next;
      next += count;
    }
    for (int64_t i = 0; i < n; ++i) to[start[digit(from[i].key, pass)]++] = from[i];
    std::swap(from, to);
  }
  return from;
}

/// Sort n > 0 items with distinct places in increasing order; `spare` has the same size. Return the
/// array that holds the result.
template <class Key, class Place>
Item<Key, Place>* sort_items(Item<Key, Place>* items, Item<Key, Place>* spare, int64_t n) {
  // Below kFew, counting digits costs more than comparisons; above kMany, wider digits pay off
  // because they need fewer passes.
  constexpr int64_t kFew = sizeof(Key) == 8 ? 256 : 64, kMany = 1 << 14;
  if (n < kFew) {
    std::sort(items, items + n);
    return items;
  }
  if (n < kMany || sizeof(Key) == 1) return sort_by_digits<8>(items, spare, n);
  return sort_by_digits<11>(items, spare, n);
}

}  // namespace ambit::cpu
