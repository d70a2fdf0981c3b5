// Limits the size of a single allocation, and counts failures.
#pragma once

#include <cstddef>

namespace limited_memory {

/// During its lifetime, allocations of more than `most` bytes fail, in all threads.
class Limit {
 public:
  explicit Limit(size_t most);
  ~Limit();
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;
  /// Return the number of failed allocations.
  long refusals() const;
};

}  // namespace limited_memory
