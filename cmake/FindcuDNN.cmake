# cuDNN: the target cuDNN::headers. The library itself is not looked for, since the CUDA
# backend opens it when it runs. Sought in $cuDNN_ROOT, beside the CUDA toolkit, where Debian, Ubuntu
# and NVIDIA's packages put it, and in the site-packages of python3, where its wheel does.
find_path(cuDNN_INCLUDE_DIR cudnn_version.h
  HINTS ${CUDAToolkit_INCLUDE_DIRS}
  PATH_SUFFIXES include include/x86_64-linux-gnu include/aarch64-linux-gnu)
if(NOT cuDNN_INCLUDE_DIR)
  find_program(cuDNN_PYTHON python3)
  mark_as_advanced(cuDNN_PYTHON)
  set(script "import sysconfig; print(sysconfig.get_path('purelib') + '/nvidia/cudnn')")
  execute_process(COMMAND ${cuDNN_PYTHON} -c "${script}"
    OUTPUT_VARIABLE wheel OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  find_path(cuDNN_INCLUDE_DIR cudnn_version.h HINTS ${wheel} PATH_SUFFIXES include)
endif()
mark_as_advanced(cuDNN_INCLUDE_DIR)

set(cuDNN_VERSION "")
if(cuDNN_INCLUDE_DIR)
  foreach(part IN ITEMS MAJOR MINOR PATCHLEVEL)
    # Debian's header of this name includes the one with the numbers.
    file(GLOB headers ${cuDNN_INCLUDE_DIR}/cudnn_version*.h)
    foreach(header IN LISTS headers)
      file(STRINGS ${header} line REGEX "#define CUDNN_${part} +[0-9]+" LIMIT_COUNT 1)
      if(line MATCHES "([0-9]+)")
        set(cuDNN_${part} ${CMAKE_MATCH_1})
      endif()
    endforeach()
  endforeach()
  set(cuDNN_VERSION ${cuDNN_MAJOR}.${cuDNN_MINOR}.${cuDNN_PATCHLEVEL})
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(cuDNN
  REQUIRED_VARS cuDNN_INCLUDE_DIR VERSION_VAR cuDNN_VERSION)
if(cuDNN_FOUND AND NOT TARGET cuDNN::headers)
  add_library(cuDNN::headers INTERFACE IMPORTED)
  target_include_directories(cuDNN::headers INTERFACE ${cuDNN_INCLUDE_DIR})
endif()
