// Exceptions thrown for user errors. Messages read "<op>: expected <what>, got <what>", except for
// DeviceMismatchError, whose text is specified.
#pragma once

#include <ambit/device.h>

#include <exception>
#include <string>
#include <vector>

namespace ambit {

/// Base of all errors that ambit throws.
class AMBIT_API Error : public std::exception {
 public:
  /// An error with this message.
  explicit Error(std::string text);
  /// Copy the message.
  Error(const Error&);
  Error& operator=(const Error&) = delete;
  ~Error() override;
  /// Return the message: "<op>: expected <what>, got <what>".
  const char* what() const noexcept override;
  /// Return all details of the error, on several lines; what() if there are none.
  virtual std::string explain() const;
  /// Return what(), under libtorch's names. Errors hold no backtrace.
  /// @{
  const char* what_without_backtrace() const noexcept { return what(); }
  const std::string& msg() const { return text_; }
  /// @}

 private:
  std::string text_;
};

// The destructors are out of line, so that each type has one vtable and type_info and a plugin's
// exception is caught.
#define AMBIT_ERROR(Name)               \
  class AMBIT_API Name : public Error { \
   public:                              \
    /** An error with this message. */  \
    using Error::Error;                 \
    /** Copy the message. */            \
    Name(const Name&);                  \
    ~Name() override;                   \
  }
/// Shapes that do not match or broadcast, a wrong number of dims, a size out of range.
AMBIT_ERROR(ShapeError);
/// A dtype that the function does not accept, or a number that the dtype cannot hold.
AMBIT_ERROR(DTypeError);
/// A dim or an index out of range. On asynchronous devices, indices are reported at the next
/// synchronization.
AMBIT_ERROR(IndexError);
/// A device without a kernel for the op, or a case that ambit lacks: sparse tensors, some
/// gradients.
AMBIT_ERROR(NotImplementedError);
/// Memory of a device or the host is exhausted; names the requested, used and free bytes.
AMBIT_ERROR(OutOfMemoryError);
/// A device that does not exist, or a failure of a backend, its library or a plugin.
AMBIT_ERROR(BackendError);
/// A file that cannot be read or written, or whose content is invalid; names its path.
AMBIT_ERROR(SerializationError);
/// A call of backward on a tensor without a graph, through a graph that was freed, or through a
/// saved tensor that was written after it was saved; an in-place write to a leaf that requires
/// grad.
AMBIT_ERROR(AutogradError);
/// A numerical failure: a singular matrix, one that is not positive definite, no convergence.
AMBIT_ERROR(LinAlgError);
#undef AMBIT_ERROR

/// A tensor argument of a failed call, as listed by explain().
struct ArgumentInfo {
  std::string name;       ///< "weight", "tensors[2]"
  std::string type;       ///< "float32[64, 3072]", or "undefined"
  Device device;          ///< where the tensor is; cpu if it is undefined
  std::string parameter;  ///< dotted path of a module's parameter or buffer, else empty
};

/// Thrown when the tensors of one call are on different devices.
/// what() is exactly "expected device cuda:0 but got device cpu".
class AMBIT_API DeviceMismatchError : public Error {
 public:
  /// `expected` and `actual` are the positions in `arguments` of the tensor that sets the device
  /// and of the first one that differs.
  DeviceMismatchError(std::string op, std::vector<ArgumentInfo> arguments, size_t expected,
                      size_t actual);
  /// Copy the message and the arguments.
  DeviceMismatchError(const DeviceMismatchError&);
  ~DeviceMismatchError() override;

  /// Return the name of the op: "linear".
  const std::string& op() const { return op_; }
  /// Return the name of the first argument that differs: "weight".
  const std::string& argument() const { return arguments_[actual_].name; }
  /// Return the device of the argument that sets the device of the call.
  Device expected() const { return arguments_[expected_].device; }
  /// Return the device of the first argument that differs.
  Device actual() const { return arguments_[actual_].device; }
  /// List every operand with shape, dtype, device and parameter path, and suggest fixes.
  std::string explain() const override;

 private:
  std::string op_;
  std::vector<ArgumentInfo> arguments_;
  size_t expected_, actual_;  // positions in arguments_
};

}  // namespace ambit
