// The texts of device programs.
#pragma once

#include <ambit/dtype.h>

#include <string>
#include <string_view>

#include "device.h"

namespace ambit::opencl {

/// The OpenCL type that holds an element; bool and the reduced floating-point types are uchar and
/// ushort.
const char* type_name(DType dtype);
/// The unsigned type of so many bytes, for kernels that only move elements.
const char* bits_name(size_t bytes);

/// The expression of a function of functors.h: expression("unary", "exp") is "exp(x)".
std::string_view expression(std::string_view family, std::string_view function);

/// Begin a program: the definitions of types.cl for elements of a dtype.
std::string begin_program(const Features& features, DType dtype);
/// The same for elements that are only moved.
std::string begin_moving_program(const Features& features, size_t element_bytes);
/// A source of kernels/, by its name without .cl; also "special" and "functors".
std::string_view device_source(std::string_view name);

}  // namespace ambit::opencl
