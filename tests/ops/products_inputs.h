// Operands for which PyTorch computed the expected products.
#pragma once

#include <ambit/ambit.h>

#include <vector>

#include "tests/expected.h"

namespace products_test {

using namespace ambit;

// a = wave(2, 3); b = wave(3, 2, k=0.3); v = wave(3, k=1.1) + 0.5; w = wave(2, k=0.9) + 0.3
// s = torch.tensor(1.5); p = wave(2, 2, 3, k=0.4); q = wave(2, 3, 2, k=0.8)
inline std::vector<Tensor> inputs(Device d) {
  return {wave(d, {2, 3}),
          wave(d, {3, 2}, 0.3),
          wave(d, {3}, 1.1) + 0.5,
          wave(d, {2}, 0.9) + 0.3,
          tensor(1.5, TensorOptions(kFloat64).device(d)),
          wave(d, {2, 2, 3}, 0.4),
          wave(d, {2, 3, 2}, 0.8)};
}

}  // namespace products_test
