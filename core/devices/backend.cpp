// Default implementations of Backend's functions.
#include <ambit/backend/backend.h>
#include <ambit/detail/storage.h>
#include <ambit/error.h>

#include <cstdlib>

namespace ambit {

TimeMark::~TimeMark() = default;
Backend::~Backend() = default;

std::string Backend::reason_for_none() const { return {}; }

DeviceProperties Backend::properties(int index) const {
  return {.name = name() + ":" + std::to_string(index)};
}

bool Backend::is_accelerator() const { return true; }

MemoryStats Backend::memory_stats(int) const { return {}; }
void Backend::empty_cache(int) {}
void Backend::to_row_major(int, void*, const void*, size_t, const PhysicalLayout& layout) {
  throw BackendError(name() + ": expected a backend that knows its physical layout " +
                     std::to_string(layout.format) + ", got one without layouts");
}

void Backend::synchronize(int) {}
void Backend::wait_for_copies(int index, const void*) { synchronize(index); }
void Backend::activate(int) {}
std::unique_ptr<TimeMark> Backend::mark_time(int) { return nullptr; }

void* Backend::allocate_pinned(size_t bytes) {
  void* p = std::malloc(bytes);
  if (!p) throw OutOfMemoryError("pinned memory: requested " + std::to_string(bytes) + " bytes");
  return p;
}

void Backend::free_pinned(void* p, size_t) noexcept { std::free(p); }
bool Backend::is_pinned(const void*, size_t) { return false; }

int32_t Backend::dlpack_device_type() const { return 12; }
void Backend::lend(int index, void*, std::optional<int64_t>) { synchronize(index); }
void Backend::borrow(int, void*, size_t, std::optional<int64_t>) {}
void Backend::end_borrow(int index, void*, size_t) noexcept {
  try {
    synchronize(index);
  } catch (...) {  // an error cannot be reported: a tensor is being destroyed
  }
}
void Backend::expect_repeatable(int, const char*) {}
void Backend::expect_true(int index, const void* fact, const char* otherwise) {
  bool is_true = false;
  copy_to_host(index, &is_true, fact, sizeof(is_true), /*non_blocking=*/false);
  if (!is_true) throw Error(otherwise);
}

}  // namespace ambit
