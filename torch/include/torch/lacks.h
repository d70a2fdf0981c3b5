// How a name of libtorch that ambit lacks is declared, so that the compiler says why where a
// program uses it, and only there: "'torch::kQInt8' is unavailable: ambit has no quantised
// tensors".
#pragma once

#include <torch/namespaces.h>

#define AMBIT_TORCH_LACKS(why) __attribute__((unavailable(why)))
/// A function of any arguments.
#define AMBIT_TORCH_LACKS_FUNCTION(name, why) \
  template <class... Args>                    \
  AMBIT_TORCH_LACKS(why)                      \
  void name(Args&&...)
