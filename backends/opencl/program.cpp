#include "program.h"

#include <ambit/error.h>
#include <fmt/format.h>

#include <cassert>

namespace ambit::opencl {
namespace {

struct Source {
  std::string_view name, text;
};
constexpr Source kSources[] = {
#include "device_sources.inc"
};

struct FunctionText {
  std::string_view family, name, expression;
};
constexpr FunctionText kFunctions[] = {
#include "function_rows.inc"
};

}  // namespace

const char* type_name(DType dtype) {
  switch (dtype) {
    case kFloat32:
      return "float";
    case kFloat64:
      return "double";
    case kInt64:
      return "long";
    case kInt32:
      return "int";
    case kInt16:
      return "short";
    case kInt8:
      return "char";
    case kUInt8:
    case kBool:
      return "uchar";
    default:
      return "ushort";
  }
}

const char* bits_name(size_t bytes) {
  return bytes == 1 ? "uchar" : bytes == 2 ? "ushort" : bytes == 4 ? "uint" : "ulong";
}

std::string_view expression(std::string_view family, std::string_view function) {
  for (const FunctionText& f : kFunctions) {
    if (f.family == family && f.name == function) return f.expression;
  }
  throw NotImplementedError(
      fmt::format("{}: expected an expression in functors.h, got none", function));
}

std::string_view device_source(std::string_view name) {
  for (const Source& s : kSources) {
    if (s.name == name) return s.text;
  }
  assert(false);
  return {};
}

std::string begin_program(const Features& features, DType dtype) {
  if (dtype == kFloat64 && !features.has_double) {
    throw NotImplementedError("opencl: expected a device with cl_khr_fp64 for float64, got none");
  }
  const bool is_float = is_floating_point(dtype);
  return fmt::format(
             "#define T {}\n#define T_FLOAT {}\n#define T_SIGNED {}\n#define T_BOOL {}\n"
             "#define T_BITS {}\n#define HAS_DOUBLE {}\n",
             type_name(dtype), int{is_float}, int{dtype != kUInt8 && dtype != kBool},
             int{dtype == kBool}, 8 * element_size(dtype), int{features.has_double}) +
         std::string(device_source("types"));
}

std::string begin_moving_program(const Features& features, size_t element_bytes) {
  return fmt::format("#define T {}\n#define HAS_DOUBLE {}\n", bits_name(element_bytes),
                     int{features.has_double}) +
         std::string(device_source("types"));
}

}  // namespace ambit::opencl
