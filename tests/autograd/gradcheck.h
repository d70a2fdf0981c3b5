// <ambit/testing/gradcheck.h> as checks of doctest, for functions of a vector of tensors.
#pragma once

#include <ambit/ops/random.h>
#include <ambit/testing/gradcheck.h>
#include <doctest/doctest.h>

#include <functional>
#include <utility>
#include <vector>

#include "tests/function_ref.h"

using TensorFn = std::function<ambit::Tensor(const std::vector<ambit::Tensor>&)>;
using TensorFnRef = FunctionRef<ambit::Tensor(const std::vector<ambit::Tensor>&)>;

using ambit::test::weights_like;

inline void gradcheck(TensorFnRef f, std::vector<ambit::Tensor> inputs) {
  CHECK_GRADIENTS(f, std::move(inputs));
}
inline void gradgradcheck(TensorFnRef f, std::vector<ambit::Tensor> inputs) {
  CHECK_SECOND_GRADIENTS(f, std::move(inputs));
}
