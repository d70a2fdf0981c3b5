// ExpandingArray<D>: D numbers, given as a list or as one number that is repeated.
#pragma once

#include <ambit/nn/expanding_array.h>
#include <torch/namespaces.h>
