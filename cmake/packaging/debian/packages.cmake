# The Debian packages that `cmake --workflow --preset deb` makes in build/deb, one per component:
#   libambit0    the library, the libraries that it opens late, and the simulated accelerator
#   libambit-dev headers, and the files for CMake and pkg-config
#   ambit-tools  the program `ambit`; not the lessons, whose names are too common for /usr/bin
#   ambit-cuda   the plugin for NVIDIA GPUs, if it is built
#   ambit-mpi    the communicator for training on several processes, if it is built
# dpkg-shlibdeps finds the packages of the distribution that they depend on.
set(AMBIT_PACKAGE_CONTACT "The ambit developers <ambit@example.org>" CACHE STRING
  "Who answers for the Debian packages: name <address>")

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CONTACT "${AMBIT_PACKAGE_CONTACT}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
if(CMAKE_CROSSCOMPILING)
  # dpkg-shlibdeps knows only packages that are installed here.
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
  set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
  set(CPACK_AMBIT_SHLIBS ${CMAKE_SYSROOT}/shlibs)
  set(CPACK_AMBIT_OUTPUT ${PROJECT_BINARY_DIR})
else()
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  # libambit's folder before installation, for dpkg-shlibdeps.
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
endif()
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(about "ambit computes with tensors and trains neural networks, with the names of
libtorch, on whatever device is there: the CPU, or what a plugin brings.")

find_program(GZIP_PROGRAM gzip REQUIRED)
mark_as_advanced(GZIP_PROGRAM)
get_target_property(soversion ambit SOVERSION)
set(folder ${PROJECT_BINARY_DIR}/debian)
configure_file(${CMAKE_CURRENT_LIST_DIR}/changelog.in ${folder}/changelog)
configure_file(${CMAKE_CURRENT_LIST_DIR}/ambit.1 ${folder}/ambit.1 COPYONLY)
execute_process(COMMAND ${GZIP_PROGRAM} -9nf ${folder}/changelog ${folder}/ambit.1
  COMMAND_ERROR_IS_FATAL ANY)

# _ambit_package(<component> <name> <section> <summary> <description>)
macro(_ambit_package component name section summary description)
  string(TOUPPER ${component} upper)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}\n${about}\n\n${description}")
  # Excluded from `cmake --install` without a component.
  install(FILES ${folder}/changelog.gz
    DESTINATION share/doc/${name} COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE RENAME copyright
    DESTINATION share/doc/${name} COMPONENT ${component} EXCLUDE_FROM_ALL)
endmacro()

set(CPACK_COMPONENTS_ALL "")
_ambit_package(ambit_runtime libambit${soversion} libs
  "device-agnostic tensor framework (shared library)"
  "This package has the library, the readers and writers of files that it opens
when they are used, and the simulated accelerator.")
# Opened at run time; without it linear algebra is slow.
set(CPACK_DEBIAN_AMBIT_RUNTIME_PACKAGE_RECOMMENDS "libopenblas0 | liblapack3")
_ambit_package(ambit_dev libambit-dev libdevel
  "device-agnostic tensor framework (development files)"
  "This package has the headers, and what find_package and pkg-config look for.")
_ambit_package(ambit_tools ambit-tools science
  "device-agnostic tensor framework (tools)"
  "This package has the program ambit, which shows devices and backends, checks
a backend, and measures how fast ambit is.")
install(FILES ${folder}/ambit.1.gz
  DESTINATION share/man/man1 COMPONENT ambit_tools EXCLUDE_FROM_ALL)
if(TARGET ambit_backend_cuda)
  _ambit_package(ambit_cuda ambit-cuda contrib/libs
    "device-agnostic tensor framework (NVIDIA GPUs)"
    "This package has the plugin for the devices cuda:0, cuda:1 and so on. With a
GPU it uses the driver, cuDNN, cuBLAS and cuSOLVER.")
  # NVIDIA's packages have no metadata for dpkg-shlibdeps.
  find_package(CUDAToolkit QUIET)
  set(cuda ${CUDAToolkit_VERSION_MAJOR}-${CUDAToolkit_VERSION_MINOR})
  set(CPACK_DEBIAN_AMBIT_CUDA_PACKAGE_DEPENDS cuda-cudart-${cuda})
  set(CPACK_DEBIAN_AMBIT_CUDA_PACKAGE_RECOMMENDS
    "libcublas-${cuda}, libcusolver-${cuda}, libcudnn9-cuda-${CUDAToolkit_VERSION_MAJOR}, libnccl2")
endif()
if(TARGET ambit_communicator_mpi)
  _ambit_package(ambit_mpi ambit-mpi libs
    "device-agnostic tensor framework (MPI)"
    "This package has the communicator with which processes that mpirun starts
train one network.")
endif()

foreach(component DEV TOOLS CUDA MPI)
  set(CPACK_COMPONENT_AMBIT_${component}_DEPENDS ambit_runtime)
endforeach()
# `ambit bench` compiles a program.
set(CPACK_DEBIAN_AMBIT_TOOLS_PACKAGE_SUGGESTS "libambit-dev, g++")
# Packages of several architectures can be installed together (CMake 3.31 has a variable for it).
set(CPACK_DEBIAN_AMBIT_RUNTIME_PACKAGE_MULTIARCH same)
set(CPACK_DEBIAN_AMBIT_DEV_PACKAGE_MULTIARCH same)
# The files that make packages of programs depend on libambit0, and that trigger ldconfig.
file(WRITE ${folder}/shlibs
  "libambit ${soversion} libambit${soversion} (>= ${PROJECT_VERSION})\n")
file(WRITE ${folder}/triggers "activate-noawait ldconfig\n")
# Listing postinst and postrm, which do not exist, keeps CPack from writing its own to call ldconfig.
set(CPACK_DEBIAN_AMBIT_RUNTIME_PACKAGE_CONTROL_EXTRA
  ${folder}/shlibs ${folder}/triggers ${folder}/postinst ${folder}/postrm)

include(CPack)
