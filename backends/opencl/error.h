// A failed call of OpenCL as an exception.
#pragma once

#include <CL/cl.h>

namespace ambit::opencl {

/// Return the name of an error code: "CL_OUT_OF_RESOURCES".
const char* error_name(cl_int status);

/// Throw for any status but CL_SUCCESS: OutOfMemoryError where the device has no memory left, else
/// BackendError "<op>: expected <call> to succeed, got CL_INVALID_VALUE (-30)".
void check(cl_int status, const char* op, const char* call);

}  // namespace ambit::opencl
