// All of optim.
#pragma once

#include <ambit/optim/adam.h>
#include <ambit/optim/optimizer.h>
#include <ambit/optim/sgd.h>
