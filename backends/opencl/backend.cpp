#include "backend.h"

#include <algorithm>
#include <vector>

#include "error.h"

namespace ambit::opencl {
namespace {

OpenClDevice& device(int index) { return *devices()[static_cast<size_t>(index)]; }

// A marker command in the queue; the driver records the time at which it ends.
class Marker final : public TimeMark {
 public:
  explicit Marker(cl_command_queue queue) {
    check(clEnqueueMarkerWithWaitList(queue, 0, nullptr, &event_), "profile",
          "clEnqueueMarkerWithWaitList");
    clFlush(queue);
  }
  ~Marker() override { clReleaseEvent(event_); }
  int64_t nanoseconds() noexcept override {
    cl_ulong time = 0;
    if (clWaitForEvents(1, &event_) != CL_SUCCESS) return -1;
    const cl_int status =
        clGetEventProfilingInfo(event_, CL_PROFILING_COMMAND_END, sizeof time, &time, nullptr);
    return status == CL_SUCCESS ? static_cast<int64_t>(time) : -1;
  }

 private:
  cl_event event_ = nullptr;
};

}  // namespace

int OpenClBackend::device_count() const noexcept {
  try {
    return static_cast<int>(devices().size());
  } catch (...) {
    return 0;
  }
}

DeviceProperties OpenClBackend::properties(int index) const {
  const OpenClDevice& d = device(index);
  size_t total = 0;
  cl_ulong bytes = 0;
  if (clGetDeviceInfo(d.id(), CL_DEVICE_GLOBAL_MEM_SIZE, sizeof bytes, &bytes, nullptr) ==
      CL_SUCCESS) {
    total = bytes;
  }
  return {.name = device_text(d.id(), CL_DEVICE_NAME),
          .total_memory = total,
          .details = {{"platform", platform_text(d.platform(), CL_PLATFORM_NAME)},
                      {"version", device_text(d.id(), CL_DEVICE_VERSION)},
                      {"driver", device_text(d.id(), CL_DRIVER_VERSION)},
                      {"float64", d.features().has_double ? "yes" : "no"},
                      {"largest buffer, MiB", std::to_string(d.features().most_bytes >> 20)}}};
}

// devices() lists accelerators first, so the first device tells whether there is one.
bool OpenClBackend::is_accelerator() const {
  return !devices().empty() && devices()[0]->features().is_accelerator;
}

void* OpenClBackend::allocate(int index, size_t bytes) {
  return device(index).allocator().allocate(bytes);
}
void OpenClBackend::free(int index, void* p, size_t bytes) noexcept {
  device(index).allocator().free(p, bytes);
}
MemoryStats OpenClBackend::memory_stats(int index) const {
  return device(index).allocator().stats();
}
void OpenClBackend::empty_cache(int index) { device(index).allocator().empty_cache(); }

// Devices have separate contexts: copy through the host.
void OpenClBackend::copy(int to_index, void* to, int from_index, const void* from, size_t bytes) {
  if (bytes == 0) return;
  if (to_index == from_index) return device(to_index).copy(to, from, bytes);
  std::vector<char> host(bytes);
  device(from_index).read(host.data(), from, bytes);
  device(to_index).write(to, host.data(), bytes);
}
void OpenClBackend::copy_from_host(int index, void* to, const void* host, size_t bytes, bool) {
  if (bytes > 0) device(index).write(to, host, bytes);
}
void OpenClBackend::copy_to_host(int index, void* host, const void* from, size_t bytes, bool) {
  if (bytes > 0) device(index).read(host, from, bytes);
}
void OpenClBackend::synchronize(int index) { device(index).synchronize(); }
std::unique_ptr<TimeMark> OpenClBackend::mark_time(int index) {
  return std::make_unique<Marker>(device(index).queue());
}

}  // namespace ambit::opencl
