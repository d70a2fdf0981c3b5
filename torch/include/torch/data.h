// Datasets, samplers, transforms and loaders.
#pragma once

#include <ambit/data/data.h>
#include <torch/types.h>
