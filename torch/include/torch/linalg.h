// torch::linalg is ambit's.
#pragma once

#include <torch/types.h>
