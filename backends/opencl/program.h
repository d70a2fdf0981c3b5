// Sources of device programs.
#pragma once

#include <ambit/dtype.h>

#include <string>
#include <string_view>

#include "device.h"

namespace ambit::opencl {

/// Return the OpenCL type of an element; uchar for bool, ushort for reduced floating-point types.
const char* type_name(DType dtype);
/// Return the unsigned type of this size, for kernels that only copy elements.
const char* bits_name(size_t bytes);

/// Return the expression of a function of functors.h: expression("unary", "exp") is "exp(x)".
std::string_view expression(std::string_view family, std::string_view function);

/// Return the start of a program: the definitions of types.cl for elements of a dtype.
std::string begin_program(const Features& features, DType dtype);
/// As begin_program(), for elements that are only copied.
std::string begin_moving_program(const Features& features, size_t element_bytes);
/// Return a source of kernels/, by its name without .cl; also "special" and "functors".
std::string_view device_source(std::string_view name);

}  // namespace ambit::opencl
