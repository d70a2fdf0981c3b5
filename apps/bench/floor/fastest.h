// oneDNN's implementations of one primitive, tried out. It lists them by what it expects of them:
// brgconv first, but with few input channels the plain jit, with 8 even that for AVX2, is faster.
#pragma once

#include <vector>

#include "calls.h"

namespace bench::floor {

template <class Primitive>
struct Chosen {
  typename Primitive::primitive_desc desc;
  Primitive primitive;
};

/// oneDNN 2.6 finds a primitive in its cache by its description alone, whichever implementation
/// was asked for: no cache while one of these lives.
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

/// Return about how many seconds the primitive takes, after one look if that is far over `limit`.
double seconds_of(const dnnl::primitive& primitive, const dnnl::primitive_desc& desc,
                  const std::vector<int>& arguments, double limit);

/// Whether it is one of oneDNN's plain loops, too slow to try.
bool is_reference(const dnnl::primitive_desc& desc);

/// Return the fastest implementation from `desc` on. `arguments`: the numbers of all its arguments.
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
