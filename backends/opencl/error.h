// Converts failed OpenCL calls to exceptions.
#pragma once

#include <CL/cl.h>

namespace ambit::opencl {

/// Return the name of an error code: "CL_OUT_OF_RESOURCES".
const char* error_name(cl_int status);

/// Throw for any status but CL_SUCCESS: OutOfMemoryError if the device is out of memory, otherwise
/// BackendError "<op>: expected <call> to succeed, got CL_INVALID_VALUE (-30)".
void check(cl_int status, const char* op, const char* call);

}  // namespace ambit::opencl
