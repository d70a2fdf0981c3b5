// Results too large for any cache, written past them: a plain store first reads the line that it
// will overwrite, which is a third of an addition's traffic.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ambit::cpu {

/// Whether so many bytes will have left the caches before anybody reads them.
bool outgrows_caches(int64_t bytes);
/// Copy bytes past the caches. What is at y may be read after end_stream(), by the same thread.
void stream(void* y, const void* x, size_t bytes);
void end_stream();

}  // namespace ambit::cpu
