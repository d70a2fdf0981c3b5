// Non-temporal stores for results larger than the caches. A normal store first reads the cache line
// that it overwrites, which is a third of the memory traffic of an addition.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ambit::cpu {

/// Return true if a result of this size is evicted from the caches before it is read.
bool outgrows_caches(int64_t bytes);
/// Copy bytes with non-temporal stores. The same thread may read y after end_stream().
void stream(void* y, const void* x, size_t bytes);
void end_stream();

}  // namespace ambit::cpu
