// What programs for libtorch include. All of it is ambit's, under libtorch's names.
#pragma once

#include <torch/all.h>
