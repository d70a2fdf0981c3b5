// All of ambit::data.
#pragma once

#include <ambit/data/cifar10.h>
#include <ambit/data/data_loader.h>
#include <ambit/data/dataset.h>
#include <ambit/data/example.h>
#include <ambit/data/mnist.h>
#include <ambit/data/samplers.h>
#include <ambit/data/transforms.h>
