// Memory of work that is repeated with tensors of the same sizes: the first run records which
// blocks the tensors of a device need and for how long, later runs get the same blocks from one
// arena. Work that differs from the recorded run still gets correct memory, from the backend.
#pragma once

#include <ambit/device.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>

namespace ambit {

/// A block that the recorded run allocated.
struct PlannedBlock {
  static constexpr uint32_t kNever = std::numeric_limits<uint32_t>::max();

  size_t bytes = 0;
  size_t offset = 0;       ///< offset in the arena; 0 for a block that outlived the run
  uint32_t step = 0;       ///< step in which it was allocated
  uint32_t first = 0;      ///< time of its allocation, counted in allocations and frees
  uint32_t last = kNever;  ///< time of its free; kNever: it outlived the run
  bool outlives_run() const { return last == kNever; }
};

/// Set the offsets of blocks that do not outlive the run, so that two that live at the same time do
/// not overlap: the largest first, each at the lowest free offset. Return the size of the arena.
/// Source: Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference",
/// arXiv:2001.03288, section 5.2.
AMBIT_API size_t arrange(std::span<PlannedBlock> blocks);

/// The blocks of one device. Blocks that outlive the run, such as its results, are not in the
/// arena; each is used again once its tensors are freed. All memory is freed with the last tensor
/// that uses it, even after the PlannedMemory is destroyed. Tensors may be freed by any thread.
class AMBIT_API PlannedMemory {
 public:
  /// Errors: BackendError if the device does not exist.
  explicit PlannedMemory(Device device);
  ~PlannedMemory();
  PlannedMemory(const PlannedMemory&) = delete;
  PlannedMemory& operator=(const PlannedMemory&) = delete;

  class Blocks;  ///< core/memory/planned_blocks.h

  /// A run: while it lives, tensors that the calling thread allocates on the device are recorded
  /// or, after arrange(), placed. One run at a time.
  class AMBIT_API Run {
   public:
    explicit Run(PlannedMemory& memory);
    ~Run();
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    /// Begin step `i` of the work. A step that allocates differently than in the recorded run does
    /// not affect the memory of later steps.
    void step(uint32_t i);

   private:
    Blocks& blocks_;
    Blocks* before_;
  };

  /// Allocate the blocks of the recorded run, and use them from now on. Errors: OutOfMemoryError.
  void arrange();
  /// Return the blocks of the recorded run, in the order of their allocation.
  std::span<const PlannedBlock> blocks() const;
  size_t arena_bytes() const;
  /// Return how many allocations of replays differed from the recorded run, or found their block
  /// still in use.
  size_t unplanned() const;

 private:
  std::shared_ptr<Blocks> blocks_;
};

}  // namespace ambit
