// Recording for `ambit check` and for the origins of explain(): with $AMBIT_CHECK, a folder, device
// mistakes and copies of the process are written there; with AMBIT_ORIGINS=1 a DeviceMismatchError
// knows where its operands were made. The code is in libambit_check.so; this is its interface.
#pragma once

#include <ambit/backend/op.h>
#include <ambit/device.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ambit {

class Backend;
class DeviceMismatchError;
struct ArgumentInfo;

/// A call in a program's source.
struct SourceCall {
  std::string file, function;  ///< empty: unknown
  int line = 0;
  bool is_library = false;  ///< true: in a header of ambit or of the C++ library
};

/// The origins of a DeviceMismatchError's operands, as texts for explain().
struct MismatchOrigins {
  std::vector<std::string> lines;  ///< text of each argument; may end before the last one
  std::string change;              ///< the change of one source line; empty: unknown
};

/// The table that late_library("check") returns. Its functions are thread-safe and, except for the
/// last one, do not throw errors of ambit.
struct CheckLibrary {
  /// Return a kernel of the same signature that records the call and runs `kernel`, of the device
  /// kind.
  AnyKernel (*wrap)(const OpBase& op, size_t kind, AnyKernel kernel);
  /// Return the backend, or one that records its calls and forwards them to it; null if it must not
  /// be registered.
  std::unique_ptr<Backend> (*watch)(std::unique_ptr<Backend> backend) noexcept;
  /// Record that the next DeviceMismatchError of this thread is about these tensors.
  void (*operands)(std::span<const DeviceArg> args) noexcept;
  /// Record that a DeviceMismatchError was made, copied, or destroyed.
  void (*mismatch)(const DeviceMismatchError& error) noexcept;
  void (*copied)(const DeviceMismatchError& from, const DeviceMismatchError& to) noexcept;
  void (*destroyed)(const DeviceMismatchError& error) noexcept;
  /// Record that an error was made because a device does not exist.
  void (*missing_device)(const std::string& text) noexcept;

  // --- called by backends that record their own calls; watch() returns these backends unchanged
  void (*watches_itself)(const Backend& backend) noexcept;
  void (*allocated)(Device device, const void* memory, size_t bytes) noexcept;
  void (*freed)(const void* memory) noexcept;
  /// Record a copy between a device and the host before it starts. `non_blocking`: may end later.
  void (*host_copy)(Device device, const void* memory, bool to_device, const void* host,
                    size_t bytes, bool non_blocking) noexcept;
  void (*device_copy)(Device from_device, const void* from, Device to_device, const void* to,
                      size_t bytes) noexcept;
  /// The host waits for the device's copies to the block of `host`; null: for all its work.
  void (*waited)(Device device, const void* host) noexcept;

  /// Return the origins of an error's operands, and the change that they suggest. `arguments`,
  /// `expected` and `actual` are the members of the error.
  MismatchOrigins (*origins)(const DeviceMismatchError& error,
                             std::span<const ArgumentInfo> arguments, size_t expected,
                             size_t actual);
  /// Return the calls at addresses of a file of code, each with inlined ones, innermost first.
  /// Errors: Error if addr2line cannot be started.
  std::vector<std::vector<SourceCall>> (*source_calls)(const std::string& file,
                                                       std::span<const uint64_t> addresses);
};

/// Return the library; null if $AMBIT_CHECK and $AMBIT_ORIGINS are unset, or if the library cannot
/// be opened, which is printed once.
AMBIT_API const CheckLibrary* check_library() noexcept;

namespace check {

/// Return "Net::forward" of "(anonymous namespace)::Net::forward(ambit::Tensor)".
inline std::string function_name(const std::string& function) {
  std::string name = function;
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  for (size_t at; (at = name.find(kAnonymous)) != name.npos;) name.erase(at, kAnonymous.size());
  return name.substr(0, name.find('('));
}
/// Return true for "forward" and "Net::forward".
inline bool is_forward(const std::string& function_name) {
  return function_name == "forward" || function_name.ends_with("::forward");
}
/// Return true if `function_name` is the constructor of the class of `forward`, "ns::Net::forward".
inline bool is_constructor_of(const std::string& forward, const std::string& function_name) {
  const size_t end = forward.rfind("::");
  if (end == forward.npos) return false;
  const std::string type = forward.substr(0, end);
  const size_t begin = type.rfind("::");
  return function_name == type + "::" + (begin == type.npos ? type : type.substr(begin + 2));
}

}  // namespace check

}  // namespace ambit
