// torch::fft is ambit's: Fourier transforms, their frequencies and shifts.
#pragma once

#include <ambit/ops/fft.h>
#include <torch/namespaces.h>
