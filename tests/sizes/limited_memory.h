// How much memory a single allocation may ask for, and what was asked for.
#pragma once

#include <cstddef>

namespace limited_memory {

/// While it lives, allocations of more than `most` bytes fail, in all threads.
class Limit {
 public:
  explicit Limit(size_t most);
  ~Limit();
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;
  /// How many allocations failed.
  long refusals() const;
};

}  // namespace limited_memory
