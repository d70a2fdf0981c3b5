// Registry of the descriptors and handles that a program holds: using a destroyed or invalid one is
// reported.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "faults.h"

namespace ambit::cuda::host {

/// Thread-safe; the objects themselves are not.
template <class T>
class Live {
 public:
  explicit Live(const char* name) : name_(name) {}

  T* add(std::unique_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    T* key = object.get();
    objects_.emplace(key, std::move(object));
    return key;
  }
  /// Return the object. Misuse: it does not exist.
  T& get(const void* key) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(key);
    if (found == objects_.end()) {
      misuse(std::string("expected a live ") + name_ +
             ", got one that was destroyed or never made");
    }
    return *found->second;
  }
  void remove(const void* key) {
    get(key);
    const std::lock_guard lock(mutex_);
    objects_.erase(key);
  }

 private:
  const char* name_;
  std::mutex mutex_;
  std::unordered_map<const void*, std::unique_ptr<T>> objects_;
};

}  // namespace ambit::cuda::host
