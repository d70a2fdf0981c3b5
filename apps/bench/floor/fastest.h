// Times oneDNN's implementations of a primitive. oneDNN lists them by expected speed: brgconv
// first, although the plain jit is faster for few input channels, and the AVX2 jit for 8.
#pragma once

#include <vector>

#include "calls.h"

namespace bench::floor {

template <class Primitive>
struct Chosen {
  typename Primitive::primitive_desc desc;
  Primitive primitive;
};

/// Disables the primitive cache for a scope: oneDNN 2.6 looks primitives up by their description
/// only, regardless of the requested implementation.
class NoPrimitiveCache {
 public:
  NoPrimitiveCache() : capacity_(dnnl::get_primitive_cache_capacity()) {
    dnnl::set_primitive_cache_capacity(0);
  }
  ~NoPrimitiveCache() { dnnl_set_primitive_cache_capacity(capacity_); }
  NoPrimitiveCache(const NoPrimitiveCache&) = delete;
  NoPrimitiveCache& operator=(const NoPrimitiveCache&) = delete;

 private:
  int capacity_;
};

/// Return the approximate duration of the primitive in seconds, of a single run if that is far
/// above `limit`.
double seconds_of(const dnnl::primitive& primitive, const dnnl::primitive_desc& desc,
                  const std::vector<int>& arguments, double limit);

/// Return whether it is one of oneDNN's reference loops, which are too slow to try.
bool is_reference(const dnnl::primitive_desc& desc);

/// Return the fastest implementation from `desc` on. `arguments`: ids of all its arguments.
template <class Primitive>
Chosen<Primitive> fastest(typename Primitive::primitive_desc desc,
                          const std::vector<int>& arguments) {
  const NoPrimitiveCache no_cache;
  Chosen<Primitive> best{desc, Primitive(desc)};
  double best_seconds = seconds_of(best.primitive, desc, arguments, /*limit=*/1e9);
  while (desc.next_impl() && !is_reference(desc)) {
    const Primitive primitive(desc);
    const double seconds = seconds_of(primitive, desc, arguments, best_seconds);
    if (seconds < best_seconds) {
      best = {desc, primitive};
      best_seconds = seconds;
    }
  }
  return best;
}

}  // namespace bench::floor
