// One tensor of a kernel call on both devices, and its elements on the host.
#pragma once

#include <ambit/tensor.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ambit::shadow {

enum class Role : uint8_t {
  input,
  output,   ///< only written
  updated,  ///< read and written
};

using Bytes = std::vector<std::byte>;

/// The bytes of a block around the elements of a tensor.
struct Window {
  size_t begin = 0, end = 0;  // offsets in the block
  size_t first = 0;           // offset of the tensor's first element from `begin`
};

/// Bytes of guard zones at either end of a guarded output.
inline constexpr size_t kGuardBytes = 256;
inline constexpr std::byte kGuardByte{0xf5};

/// A tensor of a call. `before`, `after` and `expected` hold the bytes of its window on the host.
struct Operand {
  std::string name;
  Role role = Role::input;
  Tensor tensor;  // the program's tensor; undefined for an absent optional operand
  Tensor on_shadow;
  Tensor guarded;  // an output with guard zones, instead of `tensor`; may be undefined
  Window window;
  Bytes before;  // empty for an output that is a whole block
  Bytes after;
  Bytes expected;  // results of the shadow
  Bytes twin;      // the twin's window before the call; empty if `before` is

  bool is_defined() const { return tensor.defined(); }
  bool is_written() const { return role != Role::input; }
  DType dtype() const { return tensor.dtype(); }
  int64_t numel() const { return tensor.defined() ? tensor.numel() : 0; }
  int64_t size(int64_t dim) const { return tensor.size(dim); }

  /// Return the first element after the call.
  const std::byte* results() const {
    return after.data() + (guarded.defined() ? kGuardBytes : window.first);
  }
  /// Return the position of each element in the window, in elements and row-major order.
  std::vector<int64_t> positions() const;
  /// Return the elements as numbers, in row-major order: those of the program's device before the
  /// call, or the shadow's results.
  std::vector<double> values_before() const;
  std::vector<double> values_expected() const;
  /// Return the largest magnitude of a finite element before the call; 0 if there is none.
  double largest() const;
  double largest_expected() const;
};

/// Return the window of a tensor: its elements and up to `margin` bytes at both ends.
Window window_of(const Tensor& t, size_t margin);
/// Copy a window of a tensor's block to the host. A native layout is converted in a copy.
Bytes read_window(const Tensor& t, const Window& window);
/// Return a tensor of t's geometry on another device, with the bytes of t's window.
Tensor mirror(const Tensor& t, const Window& window, const Bytes& bytes, Device device);
/// Return a tensor of t's geometry with guard zones on its own device.
Tensor with_guards(const Tensor& t);
/// Return the bytes of a guarded output: a guard zone, the elements, a guard zone.
Bytes read_guarded(const Tensor& guarded);
/// Copy the elements of a guarded output to the program's tensor.
void copy_elements(const Tensor& to, const Tensor& guarded);

}  // namespace ambit::shadow
