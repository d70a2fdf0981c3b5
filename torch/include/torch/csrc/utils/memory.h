// torch::make_unique is std::make_unique.
#pragma once

#include <torch/namespaces.h>

#include <memory>

namespace torch {
using std::make_unique;
}  // namespace torch
