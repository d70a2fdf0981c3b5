// The error messages of expect.h.
#include "expect.h"

#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <string>

namespace ambit {

void throw_undefined(const char* op, const char* argument) {
  throw Error(fmt::format("{}: expected {}, got an undefined tensor", op, argument));
}

void throw_not_floating(const char* op, DType got) {
  throw DTypeError(fmt::format("{}: expected a floating-point input, got {}", op, name(got)));
}

void throw_not_real(const char* op, DType got) {
  throw DTypeError(fmt::format("{}: expected real numbers, got {}", op, name(got)));
}

void throw_bool(const char* op) {
  throw DTypeError(fmt::format("{}: expected numbers, got bool", op));
}

void throw_dtypes_differ(const char* op, DType a, DType b) {
  throw DTypeError(
      fmt::format("{}: expected both of one dtype, got {} and {}", op, name(a), name(b)));
}

void throw_dtype(const char* op, const char* argument, DType expected, DType got) {
  throw DTypeError(
      fmt::format("{}: expected {} of dtype {}, got {}", op, argument, name(expected), name(got)));
}

void throw_input_dtype(const char* op, DType expected, const char* argument, DType got) {
  throw DTypeError(fmt::format("{}: expected input of dtype {}, as {} has, got {}", op,
                               name(expected), argument, name(got)));
}

void throw_again_naming(const char* argument, const Tensor& t) {
  const std::string path = t.defined() ? printable(t.name()) : "";
  if (path.empty()) throw;
  const auto named = [&](const Error& e) {
    return fmt::format("{}; {} is {}", e.what(), argument, path);
  };
  try {
    throw;
  } catch (const ShapeError& e) {
    throw ShapeError(named(e));
  } catch (const DTypeError& e) {
    throw DTypeError(named(e));
  }
}

void throw_sizes(const char* op, const char* argument, IntArrayRef expected, IntArrayRef got) {
  throw ShapeError(
      fmt::format("{}: expected {} of shape {}, got {}", op, argument, str(expected), str(got)));
}

void throw_dim(const char* op, const char* argument, const char* expected, IntArrayRef got) {
  throw ShapeError(
      fmt::format("{}: expected {} to be {}, got shape {}", op, argument, expected, str(got)));
}

}  // namespace ambit
