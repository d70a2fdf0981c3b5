# Build for AArch64 on another machine, with Debian's cross compiler (g++-aarch64-linux-gnu), and run
# tests under qemu-user (qemu-user-static). cmake/aarch64_root.sh has filled the folder of libraries,
# build/aarch64_root or $AMBIT_ARM_ROOT. protoc, ccache and scripts are this machine's.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(root ${CMAKE_CURRENT_LIST_DIR}/../build/aarch64_root)
if(DEFINED ENV{AMBIT_ARM_ROOT})
  set(root $ENV{AMBIT_ARM_ROOT})
endif()
cmake_path(ABSOLUTE_PATH root BASE_DIRECTORY ${CMAKE_CURRENT_LIST_DIR}/.. NORMALIZE)
if(NOT EXISTS ${root}/complete)
  message(FATAL_ERROR "expected AArch64 libraries in ${root}: run cmake/aarch64_root.sh")
endif()
set(CMAKE_SYSROOT ${root})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${root})
set(ENV{PKG_CONFIG_LIBDIR} ${root}/usr/lib/aarch64-linux-gnu/pkgconfig:${root}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_PATH} "")

# FindMPI would otherwise ask this machine's mpicxx.
set(MPI_SKIP_COMPILER_WRAPPER ON)
set(MPI_CXX_SKIP_MPICXX ON CACHE BOOL "")
set(MPI_CXX_HEADER_DIR ${root}/usr/lib/aarch64-linux-gnu/openmpi/include CACHE PATH "")
set(MPI_CXX_LIB_NAMES mpi CACHE STRING "")
set(MPI_mpi_LIBRARY ${root}/usr/lib/aarch64-linux-gnu/libmpi.so CACHE FILEPATH "")

# Programs that start programs of this build read the words in front of them from AMBIT_EMULATOR.
set(AMBIT_QEMU_CPU neoverse-n1 CACHE STRING "The emulated processor; max has SVE")
find_program(AMBIT_QEMU NAMES qemu-aarch64-static qemu-aarch64)
mark_as_advanced(AMBIT_QEMU)
if(AMBIT_QEMU)
  set(AMBIT_EMULATOR "${AMBIT_QEMU} -cpu ${AMBIT_QEMU_CPU} -L ${root}")
  string(REPLACE " " ";" CMAKE_CROSSCOMPILING_EMULATOR "${AMBIT_EMULATOR}")
  list(APPEND CMAKE_CROSSCOMPILING_EMULATOR -E "AMBIT_EMULATOR=${AMBIT_EMULATOR}")
endif()
