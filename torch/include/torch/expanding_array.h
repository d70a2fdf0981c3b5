// ExpandingArray<D>: D numbers of a list, or D times one number.
#pragma once

#include <ambit/nn/expanding_array.h>
#include <torch/namespaces.h>
