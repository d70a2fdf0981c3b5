// Optimizers and schedulers.
#pragma once

#include <ambit/optim/optim.h>
#include <torch/types.h>
