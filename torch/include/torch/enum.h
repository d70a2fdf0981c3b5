// Constants for options: kMean, kReLU, kFanIn, ... are ambit's; torch::enumtype has their types.
#pragma once

#include <ambit/nn/nn.h>
#include <torch/namespaces.h>
