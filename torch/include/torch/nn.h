// Modules.
#pragma once

#include <ambit/nn/nn.h>
#include <torch/arg.h>
#include <torch/enum.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>
