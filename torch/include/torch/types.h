// Tensors, dtypes and options.
#pragma once

#include <ATen/ATen.h>
#include <ATen/layers.h>
#include <torch/library.h>
