// The blocks of memory that tensors use now: where each was made and moved, from which factory
// functions its values come, and which module uses it.
#pragma once

#include <ambit/backend/op.h>
#include <ambit/tensor.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "stack.h"

namespace ambit::check {

/// Where a tensor's values come from. Stacks are null if unknown.
struct Origin {
  SharedStack made, moved;
  Device from;  ///< the device before the move
  /// The calls of factory functions from which all values derive; empty if some values have another
  /// source.
  std::vector<SharedStack> factories;
  /// The path of the module, such as "block.fc", whose parameter this is or whose parameters the
  /// kernel used; empty if there is none.
  std::string module;
};

/// The operands of a kernel's call.
struct Operands {
  std::vector<const Tensor*> written, read;  ///< defined ones
};

/// The largest number of bytes in use on a device, and the bytes of each module at that time.
struct Peak {
  size_t bytes = 0;
  std::map<std::string, size_t> modules;
};

class Blocks {
 public:
  /// Return the blocks of the process. They are never destroyed.
  static Blocks& get();

  void allocated(Device device, const void* memory, size_t bytes);
  /// Return the size of the block; 0: unknown.
  size_t freed(const void* memory);
  /// Data moved between two devices.
  void moved(Device from_device, const void* from, const void* to);
  /// A kernel ran.
  void computed(const Operands& operands);

  Origin origin_of(const void* memory);

  /// Return the number of optimizer steps so far: the largest number of writes of one parameter,
  /// each after a read. Without any write, return how many kernels have read the first parameter.
  size_t steps();
  bool has_optimizer();
  /// Return the peak of each device except the host.
  std::map<std::string, Peak> peaks();

 private:
  struct Block {
    Device device;
    const char* begin = nullptr;
    size_t bytes = 0;
    Origin origin;
    std::string label;     // the module that uses the memory
    bool is_new = true;    // true until the first write
    std::string contents;  // the first bytes, on the host, as the last kernel wrote them
    bool is_named = false,
         is_parameter = false;  // is_named: a module's; is_parameter: requires a gradient
    bool was_read = false;
    size_t updates = 0;  // number of writes that follow a read
  };
  using Map = std::map<uintptr_t, Block>;
  struct Use {
    size_t bytes = 0;
    std::map<std::string, size_t> modules;
    Peak peak;
    bool is_peak = false;  // more bytes are in use than at the recorded peak
  };

  Block* find(const void* memory);
  Block* find(const Tensor& t) { return find(t.storage()->native_data()); }
  void remove(Map::iterator block);
  void set_label(Block& block, const std::string& label);
  void record_peak(Use& use);
  static bool is_sequence(const SharedStack& stack);
  static std::vector<SharedStack> factories_of(const Block& block);
  void name_block(Block& block, const Tensor& t);
  std::string module_of(const Operands& operands);
  void count_steps(const Operands& operands);
  std::vector<SharedStack> factories_of(const Operands& operands, const Tensor& written);

  std::mutex mutex_;  // guards the members below
  Map blocks_;
  std::map<std::string, Use> uses_;
  size_t updates_ = 0, reads_ = 0;
  uintptr_t first_parameter_ = 0;
};

}  // namespace ambit::check
