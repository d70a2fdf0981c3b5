// A cache of cuDNN and cuBLASLt plans by everything that they depend on. Independent of CUDA:
// tested on any machine.
#pragma once

#include <ambit/tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ambit::cuda {

/// The numbers that determine a plan: op, dtypes, sizes, strides, alignments, parameters and
/// switches. Lists are preceded by their length, so that different keys compare unequal.
class PlanKey {
 public:
  PlanKey& add(int64_t value) {
    words_.push_back(value);
    return *this;
  }
  PlanKey& add(IntArrayRef list) {
    add(static_cast<int64_t>(list.size()));
    words_.insert(words_.end(), list.begin(), list.end());
    return *this;
  }
  /// Add dtype, sizes, strides, and the alignment of the data up to 16 bytes; a marker for an
  /// undefined tensor.
  PlanKey& add(const Tensor& t);

  size_t hash() const {
    size_t h = words_.size();
    for (const int64_t w : words_) {
      h ^= static_cast<size_t>(w) + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);  // boost's mix
    }
    return h;
  }
  friend bool operator==(const PlanKey&, const PlanKey&) = default;

 private:
  std::vector<int64_t> words_;
};

inline PlanKey& PlanKey::add(const Tensor& t) {
  if (!t.defined()) return add(-1);
  add(static_cast<int64_t>(t.dtype())).add(t.sizes()).add(t.strides());
  return add(static_cast<int64_t>(reinterpret_cast<uintptr_t>(t.data_ptr()) % 16));
}

/// The most recently used plans, up to a limit. Not thread-safe, like the library handles: make it
/// thread_local, one for each device.
template <class Plan>
class PlanCache {
 public:
  explicit PlanCache(size_t limit = 1024) : limit_(limit) {}

  /// Return the plan of a key; create it by `make()` if there is none.
  template <class Make>
  Plan& get(const PlanKey& key, const Make& make) {
    if (const auto known = places_.find(key); known != places_.end()) {
      plans_.splice(plans_.begin(), plans_, known->second);
      return plans_.front().second;
    }
    plans_.emplace_front(key, make());
    places_.emplace(key, plans_.begin());
    if (plans_.size() > limit_) {
      places_.erase(plans_.back().first);
      plans_.pop_back();
    }
    return plans_.front().second;
  }
  size_t size() const { return plans_.size(); }

 private:
  struct Hash {
    size_t operator()(const PlanKey& key) const { return key.hash(); }
  };
  using Entry = std::pair<PlanKey, Plan>;

  const size_t limit_;
  std::list<Entry> plans_;  // most recently used first
  std::unordered_map<PlanKey, typename std::list<Entry>::iterator, Hash> places_;
};

}  // namespace ambit::cuda
