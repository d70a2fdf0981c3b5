// Autocast: a thread's state, and the cache of parameter casts.
#include <ambit/autocast.h>

#include <ambit/autograd.h>
#include <ambit/backend/kernels.h>
#include <ambit/detail/autocast.h>
#include <ambit/error.h>
#include <ambit/function_table.h>
#include <fmt/format.h>

#include <array>
#include <optional>
#include <unordered_map>

namespace ambit {
namespace autocast {

// Each kernel and each function of a family must have a row, or policy_of() does not compile.
#define AMBIT_HAS_ROW(name, ...) static_assert(policy_of(#name) <= Policy::as_is);
AMBIT_KERNELS(AMBIT_HAS_ROW)
AMBIT_UNARY_FUNCTIONS(AMBIT_HAS_ROW)
AMBIT_BINARY_FUNCTIONS(AMBIT_HAS_ROW)
AMBIT_TERNARY_FUNCTIONS(AMBIT_HAS_ROW)
AMBIT_REDUCE_FUNCTIONS(AMBIT_HAS_ROW)
AMBIT_SCAN_FUNCTIONS(AMBIT_HAS_ROW)
AMBIT_SCATTER_FUNCTIONS(AMBIT_HAS_ROW)
#undef AMBIT_HAS_ROW

namespace {

// The source of a cast, and the source's versions when it was cast.
struct CachedCast {
  Tensor source;  // keeps the key alive
  Tensor cast;
  uint32_t version = 0, replaced = 0;
};

struct Region {
  bool enabled = false;
  std::optional<DType> dtype;  // none: the device's default
};

// Per thread.
struct State {
  std::array<Region, kMaxDeviceKinds> regions{};
  Region of_no_cuda;  // state for libtorch's cuda calls if cuda does not exist
  int enabled_kinds = 0, nesting = 0;
  bool caches = true;
  std::unordered_map<const TensorImpl*, CachedCast> cache;
};

// Not in State, which is created on first use: every op that autocast lists reads this flag.
bool& active() noexcept {
  [[gnu::tls_model("initial-exec")]] static constinit thread_local bool on = false;
  return on;
}

State& state() {
  static thread_local State s;
  return s;
}

Region& region_of(Device device) { return state().regions[static_cast<size_t>(device.kind())]; }

Region& cuda_region() {
  try {
    return region_of(kCUDA);
  } catch (const Error&) {
    return state().of_no_cuda;
  }
}

DType dtype_of_region(const Region& region, Device device) {
  return region.dtype.value_or(device.is_cuda() ? kFloat16 : kBFloat16);
}

void check_dtype(DType dtype) {
  if (is_reduced_floating(dtype)) return;
  throw DTypeError(
      fmt::format("autocast: expected dtype float16 or bfloat16, got {}", name(dtype)));
}

bool may_cast(const Tensor& t) {
  return t.defined() && t.is_floating_point() && t.dtype() != kFloat64;
}

// Cache only casts of parameters, which many ops of a step use: float32 leaves that require grad.
bool is_worth_caching(const Tensor& t, DType dtype) {
  return is_reduced_floating(dtype) && t.dtype() == kFloat32 && t.requires_grad() && t.is_leaf() &&
         !t.impl()->base;
}

Tensor cast(const Tensor& t, DType dtype) {
  if (t.dtype() == dtype) return t;
  State& s = state();
  if (!s.caches || s.nesting == 0 || !is_worth_caching(t, dtype)) return t.to(dtype);
  const uint32_t version = t.version(), replaced = t.impl()->replaced;
  CachedCast& known = s.cache[t.impl()];
  const bool fits = known.cast.defined() && known.cast.dtype() == dtype &&
                    known.version == version && known.replaced == replaced &&
                    known.cast.device() == t.device() &&
                    known.cast.requires_grad() == GradMode::is_enabled();
  if (!fits) {
    known = {t, t.to(dtype), version, replaced};
    if (const std::string name = t.name(); !name.empty()) known.cast.set_name(name);
  }
  return known.cast;
}

}  // namespace

bool is_active() noexcept { return active(); }

Suspended::Suspended() noexcept : was_active_(active()) { active() = false; }
Suspended::~Suspended() { active() = was_active_; }

Tensor to_dtype(const Tensor& t, DType dtype) {
  if (!may_cast(t) || !region_of(t.device()).enabled) return t;
  return cast(t, dtype);
}
Tensor to_lower_precision(const Tensor& t) {
  if (!may_cast(t)) return t;
  const Region& region = region_of(t.device());
  return region.enabled ? cast(t, dtype_of_region(region, t.device())) : t;
}
Tensor to_float32(const Tensor& t) { return to_dtype(t, kFloat32); }

DType wider(DType current, const Tensor& t) {
  if (!may_cast(t) || !region_of(t.device()).enabled) return current;
  return promote_types(current, t.dtype());
}

bool is_autocast_enabled(Device device) { return region_of(device).enabled; }

void set_autocast_enabled(Device device, bool enabled) {
  Region& region = region_of(device);
  State& s = state();
  s.enabled_kinds += static_cast<int>(enabled) - static_cast<int>(region.enabled);
  region.enabled = enabled;
  active() = s.enabled_kinds > 0;  // also inside Suspended: this is an explicit request
}

DType get_autocast_dtype(Device device) { return dtype_of_region(region_of(device), device); }

void set_autocast_dtype(Device device, DType dtype) {
  check_dtype(dtype);
  region_of(device).dtype = dtype;
}

bool is_enabled() { return cuda_region().enabled; }

void set_enabled(bool enabled) {
  Region& region = cuda_region();
  if (&region == &state().of_no_cuda) {
    region.enabled = enabled;
  } else {
    set_autocast_enabled(kCUDA, enabled);
  }
}

DType get_autocast_gpu_dtype() { return cuda_region().dtype.value_or(kFloat16); }

void set_autocast_gpu_dtype(DType dtype) {
  check_dtype(dtype);
  cuda_region().dtype = dtype;
}

int increment_nesting() { return ++state().nesting; }
int decrement_nesting() { return --state().nesting; }

void clear_cache() {
  // Destroying the casts may destroy a graph with hooks that call this function.
  const auto dropped = std::move(state().cache);
  state().cache.clear();
}

bool is_autocast_cache_enabled() { return state().caches; }
void set_autocast_cache_enabled(bool enabled) { state().caches = enabled; }

Tensor cached_cast(DType dtype, const Tensor& t, Device device) {
  return may_cast(t) && t.device().kind() == device.kind() ? cast(t, dtype) : t;
}

DType prioritize(DType current, const Tensor& next, Device device) {
  if (!may_cast(next) || next.device().kind() != device.kind()) return current;
  return promote_types(current, next.dtype());
}

}  // namespace autocast

AutocastGuard::AutocastGuard(Device device, bool enabled)
    : AutocastGuard(device, autocast::get_autocast_dtype(device), enabled) {}

AutocastGuard::AutocastGuard(Device device, DType dtype, bool enabled, bool cache_enabled)
    : device_(device),
      was_active_(autocast::is_active()),
      was_enabled_(autocast::is_autocast_enabled(device)),
      cache_was_enabled_(autocast::is_autocast_cache_enabled()),
      dtype_was_(autocast::get_autocast_dtype(device)) {
  autocast::set_autocast_dtype(device, dtype);
  autocast::set_autocast_enabled(device, enabled);
  autocast::set_autocast_cache_enabled(cache_enabled);
  autocast::increment_nesting();
}

AutocastGuard::~AutocastGuard() {
  if (autocast::decrement_nesting() == 0) autocast::clear_cache();
  autocast::set_autocast_cache_enabled(cache_was_enabled_);
  autocast::set_autocast_enabled(device_, was_enabled_);
  autocast::set_autocast_dtype(device_, dtype_was_);
  autocast::active() = was_active_;
}

}  // namespace ambit
