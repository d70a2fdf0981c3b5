// Declares names of libtorch that ambit does not support, so that the compiler reports the reason
// where a program uses one, and only there: "'torch::kQInt8' is unavailable: ambit has no quantised
// tensors".
#pragma once

#include <torch/namespaces.h>

#define AMBIT_TORCH_LACKS(why) __attribute__((unavailable(why)))
/// A function with any arguments.
#define AMBIT_TORCH_LACKS_FUNCTION(name, why) \
  template <class... Args>                    \
  AMBIT_TORCH_LACKS(why)                      \
  void name(Args&&...)
