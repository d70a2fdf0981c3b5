// Option constants kMean, kReLU, kFanIn, ... are ambit's: values of several enumerations.
#pragma once

#include <ambit/nn/nn.h>
#include <torch/namespaces.h>
