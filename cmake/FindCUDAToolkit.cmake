# CMake's own module, but that of 3.25 asks projects of its age for nvToolsExt, which CUDA 13 lacks.
set(ambit_asks_for ${CMAKE_MINIMUM_REQUIRED_VERSION})
set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
include(${CMAKE_ROOT}/Modules/FindCUDAToolkit.cmake)
set(CMAKE_MINIMUM_REQUIRED_VERSION ${ambit_asks_for})
