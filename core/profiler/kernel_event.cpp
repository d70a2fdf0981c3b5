// Recording of a kernel call's data other than its times.
#include <ambit/backend/op.h>
#include <ambit/detail/kernel_event.h>

#include <new>
#include <optional>

#include "recorder.h"

namespace ambit {
KernelEvent::KernelEvent(const char* op, const char* function, Device device, bool native,
                         std::span<const DeviceArg> tensors) {
  const uint64_t profile = profiler::Recorder::current();
  if (profile == 0) return;
  try {
    profiler::Call call{.name = function ? function : op,
                        .device = device,
                        .kind = profiler::EventKind::op,
                        .is_kernel = native};
    std::optional<DType> last;  // most calls have one dtype
    for (const DeviceArg& arg : tensors) {
      for (size_t i = 0; i < arg.count; ++i) {
        const Tensor& t = arg.tensors[i];
        if (!t.defined()) continue;
        if (t.dtype() != last) call.dtypes = profiler::encode_dtype(call.dtypes, t.dtype());
        last = t.dtype();
        call.bytes += t.numel() * static_cast<int64_t>(element_size(t.dtype()));
      }
    }
    profiler::Recorder& recorder = profiler::Recorder::get();
    const char* const shapes = recorder.records_shapes()
                                   ? recorder.intern(profile, profiler::shapes_text(op, tensors))
                                   : nullptr;
    profile_ = profiler::begin_call(profile, call, shapes);
  } catch (const std::bad_alloc&) {  // the call runs but is not recorded
  }
}

KernelEvent::~KernelEvent() {
  if (profile_ != 0) profiler::end_call(profile_);
}

}  // namespace ambit
