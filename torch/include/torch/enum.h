// Constants for options: kMean, kReLU, kFanIn, ... are ambit's, values of enums of each subject.
#pragma once

#include <ambit/nn/nn.h>
#include <torch/namespaces.h>
