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
  explicit Error(std::string text);
  Error(const Error&);
  Error& operator=(const Error&) = delete;
  ~Error() override;
  const char* what() const noexcept override;
  /// Return all details of the error, on several lines; what() if there are none.
  virtual std::string explain() const;
  // libtorch's names. Errors hold no backtrace.
  const char* what_without_backtrace() const noexcept { return what(); }
  const std::string& msg() const { return text_; }

 private:
  std::string text_;
};

// The destructors are out of line, so that each type has one vtable and type_info and a plugin's
// exception is caught.
#define AMBIT_ERROR(Name)               \
  class AMBIT_API Name : public Error { \
   public:                              \
    using Error::Error;                 \
    Name(const Name&);                  \
    ~Name() override;                   \
  }
AMBIT_ERROR(ShapeError);
AMBIT_ERROR(DTypeError);
AMBIT_ERROR(IndexError);
AMBIT_ERROR(NotImplementedError);
AMBIT_ERROR(OutOfMemoryError);
AMBIT_ERROR(BackendError);
AMBIT_ERROR(SerializationError);
AMBIT_ERROR(AutogradError);
AMBIT_ERROR(LinAlgError);  // numerical failure: a singular matrix, no convergence
#undef AMBIT_ERROR

/// A tensor argument of a failed call, as listed by explain().
struct ArgumentInfo {
  std::string name;  ///< "weight", "tensors[2]"
  std::string type;  ///< "float32[64, 3072]", or "undefined"
  Device device;
  std::string parameter;  ///< dotted path of a module's parameter or buffer, else empty
};

/// Thrown when the tensors of one call are on different devices.
/// what() is exactly "expected device cuda:0 but got device cpu".
class AMBIT_API DeviceMismatchError : public Error {
 public:
  DeviceMismatchError(std::string op, std::vector<ArgumentInfo> arguments, size_t expected,
                      size_t actual);
  DeviceMismatchError(const DeviceMismatchError&);
  ~DeviceMismatchError() override;

  const std::string& op() const { return op_; }
  const std::string& argument() const { return arguments_[actual_].name; }
  Device expected() const { return arguments_[expected_].device; }
  Device actual() const { return arguments_[actual_].device; }
  /// List every operand with shape, dtype, device and parameter path, and suggest fixes.
  std::string explain() const override;

 private:
  std::string op_;
  std::vector<ArgumentInfo> arguments_;
  size_t expected_, actual_;  // positions in arguments_
};

}  // namespace ambit
