// The memory of a PlannedMemory, and its connection to the allocation of storages.
#pragma once

#include <ambit/backend/backend.h>
#include <ambit/detail/planned_memory.h>
#include <ambit/detail/spin_lock.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace ambit {

/// The backend that storages use for their memory. It forwards all calls except allocate() and
/// free() to the device's backend.
class PlannedMemory::Blocks final : public Backend, public std::enable_shared_from_this<Blocks> {
 public:
  explicit Blocks(Device device);
  ~Blocks() override;

  Device device() const { return device_; }
  void begin_run();
  void end_run();
  void step(uint32_t i);
  void arrange();
  std::span<const PlannedBlock> blocks() const { return blocks_; }
  size_t arena_bytes() const { return arena_bytes_; }
  size_t unplanned() const { return unplanned_; }

  void* allocate(int index, size_t bytes) override;
  void free(int index, void* p, size_t bytes) noexcept override;

  std::string name() const override { return inner_.name(); }
  int device_count() const noexcept override { return inner_.device_count(); }
  void copy(int to_index, void* to, int from_index, const void* from, size_t bytes) override {
    inner_.copy(to_index, to, from_index, from, bytes);
  }
  void copy_from_host(int index, void* to, const void* host, size_t bytes,
                      bool non_blocking) override {
    inner_.copy_from_host(index, to, host, bytes, non_blocking);
  }
  void copy_to_host(int index, void* host, const void* from, size_t bytes,
                    bool non_blocking) override {
    inner_.copy_to_host(index, host, from, bytes, non_blocking);
  }
  void to_row_major(int index, void* to, const void* from, size_t bytes,
                    const PhysicalLayout& layout) override {
    inner_.to_row_major(index, to, from, bytes, layout);
  }

 private:
  enum class Phase : uint8_t { idle, recording, replaying };
  struct Place {  // a range of bytes of the arena that is in use
    size_t begin, end;
  };
  struct Kept {  // a block that outlives the run
    void* data = nullptr;
    bool in_use = false;
  };

  void* record(size_t bytes);
  void* replay(size_t bytes);
  void* take(size_t i);
  bool give_back(void* p) noexcept;

  const Device device_;
  Backend& inner_;
  mutable SpinLock lock_;  // guards the members below
  std::vector<PlannedBlock> blocks_;
  std::vector<Kept> kept_;             // one for each block; empty for blocks in the arena
  std::vector<size_t> first_of_step_;  // first block of each step, then the number of blocks
  std::vector<Place> places_;
  std::unordered_map<void*, uint32_t> recorded_;  // blocks that are allocated, while recording
  char* arena_ = nullptr;
  size_t arena_bytes_ = 0, unplanned_ = 0, tensors_ = 0;
  size_t next_ = 0, end_ = 0;  // range of blocks that the step has not allocated yet
  uint32_t step_ = 0, now_ = 0;
  Phase phase_ = Phase::idle;
  bool is_arranged_ = false;
  std::shared_ptr<Blocks> self_;  // keeps this object while tensors use it
};

/// The blocks of the calling thread's run; null if there is none.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local PlannedMemory::Blocks* running;

/// Return the memory from which the calling thread allocates tensors on `device`: `backend`, or the
/// blocks of a run.
inline Backend& memory_for_tensors(Device device, Backend& backend) {
  if (running && running->device() == device) [[unlikely]]
    return *running;
  return backend;
}

}  // namespace ambit
