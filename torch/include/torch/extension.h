// Header of sources of custom operators. Bindings to Python are compiled, but ambit has no Python:
// C++ programs call the functions, or those that TORCH_LIBRARY registers, themselves.
#pragma once

#include <torch/all.h>
#include <torch/library.h>

/// A template that is never instantiated.
#define PYBIND11_MODULE(name, m) \
  template <class Module>        \
  [[maybe_unused]] static void ambit_torch_bindings([[maybe_unused]] Module& m)
