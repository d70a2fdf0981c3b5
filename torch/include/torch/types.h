// Tensors, dtypes and options.
#pragma once

#include <ATen/ATen.h>
