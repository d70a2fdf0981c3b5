// Includes all of ambit::data.
#pragma once

#include <ambit/data/chunk_dataset.h>
#include <ambit/data/cifar10.h>
#include <ambit/data/data_loader.h>
#include <ambit/data/dataset.h>
#include <ambit/data/distributed_samplers.h>
#include <ambit/data/example.h>
#include <ambit/data/mnist.h>
#include <ambit/data/samplers.h>
#include <ambit/data/shared_dataset.h>
#include <ambit/data/stateful_dataset.h>
#include <ambit/data/tensor_dataset.h>
#include <ambit/data/transforms.h>
