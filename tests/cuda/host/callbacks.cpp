// Functions that device code calls at each access, with the names that device.h defines. On the
// host's own stack they return at once.
#include <ambit/api.h>
#include <fmt/format.h>

#include "block.h"
#include "device.h"
#include "settings.h"
#include "shadow_access.h"

namespace ambit::cuda::host {
namespace {

[[gnu::always_inline]] inline bool is_device_code() {
  return is_fiber(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)));
}

// No other thread can access a thread's own variables.
template <Access kind>
[[gnu::always_inline]] inline void access(const volatile void* address, size_t bytes) {
  if (!is_device_code()) return;
  const auto p = reinterpret_cast<uintptr_t>(address);
  if (p - at_work.stack < at_work.stack_bytes) return;
  if (!is_atomic(kind) && --at_work.until_switch == 0) let_others_go_on();
  access_memory<kind>(p, bytes);
}

// The compiler's argument for UBSan's "type mismatch".
struct Misaligned {
  const char* file;
  uint32_t line, column;
  const void* type;
  unsigned char log_alignment, check;
};

}  // namespace

void expect_written(const volatile void* address, size_t bytes) {
  const auto p = reinterpret_cast<uintptr_t>(address);
  Region* const r = device_memory().holds(p) ? at_work.cells : at_work.shared;
  if (!settings().checks || !r || p - r->begin >= r->bytes) return;  // the access is checked
  for (uintptr_t i = p; i < p + bytes; ++i) {
    if (is_written(*r, i)) continue;
    if (!r->per_block) expect_allocated(Access::atomic_read, p, bytes);
    report_unwritten(i, p, bytes);
  }
}

}  // namespace ambit::cuda::host

using namespace ambit::cuda::host;

// NOLINTBEGIN: they are called by the compiler.
extern "C" {
#define AMBIT_ACCESSES(n)                                                                 \
  AMBIT_API void ambit_cuda_host_read##n(const void* p) { access<Access::read>(p, n); }   \
  AMBIT_API void ambit_cuda_host_write##n(const void* p) { access<Access::write>(p, n); } \
  AMBIT_API void ambit_cuda_host_atomic_read##n(const void* p) {                          \
    access<Access::atomic_read>(p, n);                                                    \
  }                                                                                       \
  AMBIT_API void ambit_cuda_host_atomic_write##n(const void* p) {                         \
    access<Access::atomic_write>(p, n);                                                   \
  }
AMBIT_ACCESSES(1)
AMBIT_ACCESSES(2)
AMBIT_ACCESSES(4)
AMBIT_ACCESSES(8)
AMBIT_ACCESSES(16)
#undef AMBIT_ACCESSES
AMBIT_API void ambit_cuda_host_read_range(const void* p, size_t n) { access<Access::read>(p, n); }
AMBIT_API void ambit_cuda_host_write_range(const void* p, size_t n) { access<Access::write>(p, n); }
AMBIT_API void ambit_cuda_host_begin() {}
AMBIT_API void ambit_cuda_host_vptr() {}

AMBIT_API void ambit_cuda_host_misaligned(const void* data, uintptr_t p) {
  if (!is_device_code() || !settings().checks) return;
  const auto& m = *static_cast<const Misaligned*>(data);
  report(fmt::format("a misaligned access at {:#x}: expected a multiple of {} ({}:{})", p,
                     1 << m.log_alignment, m.file, m.line));
}
}
// NOLINTEND
