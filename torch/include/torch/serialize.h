// save() and load().
#pragma once

#include <ambit/checkpoint.h>
#include <ambit/nn/serialize.h>
#include <ambit/serialize.h>
#include <torch/nn.h>
#include <torch/optim.h>
