#include "error.h"

#include <ambit/error.h>
#include <fmt/format.h>

namespace ambit::opencl {

const char* error_name(cl_int status) {
#define AMBIT_CASE(code) \
  case code:             \
    return #code;
  switch (status) {
    AMBIT_CASE(CL_DEVICE_NOT_AVAILABLE)
    AMBIT_CASE(CL_COMPILER_NOT_AVAILABLE)
    AMBIT_CASE(CL_MEM_OBJECT_ALLOCATION_FAILURE)
    AMBIT_CASE(CL_OUT_OF_RESOURCES)
    AMBIT_CASE(CL_MEM_COPY_OVERLAP)
    AMBIT_CASE(CL_INVALID_KERNEL)
    AMBIT_CASE(CL_INVALID_EVENT_WAIT_LIST)
    AMBIT_CASE(CL_OUT_OF_HOST_MEMORY)
    AMBIT_CASE(CL_BUILD_PROGRAM_FAILURE)
    AMBIT_CASE(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
    AMBIT_CASE(CL_INVALID_VALUE)
    AMBIT_CASE(CL_INVALID_DEVICE)
    AMBIT_CASE(CL_INVALID_CONTEXT)
    AMBIT_CASE(CL_INVALID_COMMAND_QUEUE)
    AMBIT_CASE(CL_INVALID_MEM_OBJECT)
    AMBIT_CASE(CL_INVALID_BINARY)
    AMBIT_CASE(CL_INVALID_BUILD_OPTIONS)
    AMBIT_CASE(CL_INVALID_PROGRAM_EXECUTABLE)
    AMBIT_CASE(CL_INVALID_KERNEL_NAME)
    AMBIT_CASE(CL_INVALID_ARG_INDEX)
    AMBIT_CASE(CL_INVALID_ARG_VALUE)
    AMBIT_CASE(CL_INVALID_ARG_SIZE)
    AMBIT_CASE(CL_INVALID_KERNEL_ARGS)
    AMBIT_CASE(CL_INVALID_WORK_DIMENSION)
    AMBIT_CASE(CL_INVALID_WORK_GROUP_SIZE)
    AMBIT_CASE(CL_INVALID_WORK_ITEM_SIZE)
    AMBIT_CASE(CL_INVALID_GLOBAL_OFFSET)
    AMBIT_CASE(CL_INVALID_BUFFER_SIZE)
    AMBIT_CASE(CL_INVALID_GLOBAL_WORK_SIZE)
    default:
      return "an error";
  }
#undef AMBIT_CASE
}

void check(cl_int status, const char* op, const char* call) {
  if (status == CL_SUCCESS) [[likely]]
    return;
  const std::string text =
      fmt::format("{}: expected {} to succeed, got {} ({})", op, call, error_name(status), status);
  if (status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_HOST_MEMORY) {
    throw OutOfMemoryError(text);
  }
  throw BackendError(text);
}

}  // namespace ambit::opencl
