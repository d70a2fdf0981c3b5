# Finds the headers of cuDNN: the target cuDNN::headers. The CUDA backend opens the library at run
# time. Searched: $cuDNN_ROOT, the CUDA toolkit, the folders of Debian's, Ubuntu's and NVIDIA's
# packages, and the site-packages of python3, which contain NVIDIA's wheel.
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
    # Debian's header of this name includes the header that defines the version.
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
