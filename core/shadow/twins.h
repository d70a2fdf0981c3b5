// The twins of the tensors of a program: the values that they have if the shadow computes all
// calls, each from the results of its earlier ones.
#pragma once

#include <ambit/tensor.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "operand.h"

namespace ambit::shadow {

/// The bytes of a block on both devices after the last call that used it, kept on the host.
struct Twin {
  Bytes on_device, on_shadow;
  bool was_read = false;  ///< a call has read it since the last write
  uint64_t updates = 0;   ///< number of writes that follow a read
};

class Twins {
 public:
  /// Return the twins of the process. They are never destroyed.
  static Twins& get();

  /// Set the twin's bytes of an operand before a call. Elements that the device has changed since
  /// the last call, or that no call has used yet, get the device's values.
  void read(Operand& o);
  /// Store the results of an operand after a call. The twin gets `expected` if is_computed, else
  /// the device's results.
  void write(const Operand& o, bool is_computed);

  /// Return the twin of the operand's block. It is dropped with the block. Borrowed memory has a
  /// twin only until the next call of this function, because the owner does not report when it
  /// frees the memory.
  Twin& of(const Operand& o);

 private:
  void drop(const StorageImpl* storage);

  std::mutex mutex_;  // guards the map: any thread may free a block
  std::unordered_map<const StorageImpl*, Twin> twins_;
  Twin of_borrowed_;
};

}  // namespace ambit::shadow
