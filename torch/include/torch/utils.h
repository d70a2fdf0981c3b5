// Grad modes, threads and seeds.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/record_function.h>
#include <ambit/autograd.h>
#include <ambit/inference_mode.h>
#include <ambit/parallel.h>
#include <ambit/random.h>
#include <torch/namespaces.h>

namespace at {

/// Set the same seed for every device.
using ambit::manual_seed;

}  // namespace at
