# CMake's own module; under the policies of 3.25 it requires nvToolsExt, which CUDA 13 lacks.
set(ambit_asks_for ${CMAKE_MINIMUM_REQUIRED_VERSION})
set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
include(${CMAKE_ROOT}/Modules/FindCUDAToolkit.cmake)
set(CMAKE_MINIMUM_REQUIRED_VERSION ${ambit_asks_for})
