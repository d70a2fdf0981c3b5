// All of nn.
#pragma once

#include <ambit/nn/activation.h>
#include <ambit/nn/any_module.h>
#include <ambit/nn/batchnorm.h>
#include <ambit/nn/cloneable.h>
#include <ambit/nn/conv.h>
#include <ambit/nn/dropout.h>
#include <ambit/nn/embedding.h>
#include <ambit/nn/functional.h>
#include <ambit/nn/functional_module.h>
#include <ambit/nn/init.h>
#include <ambit/nn/linear.h>
#include <ambit/nn/loss.h>
#include <ambit/nn/module.h>
#include <ambit/nn/module_holder.h>
#include <ambit/nn/module_list.h>
#include <ambit/nn/options.h>
#include <ambit/nn/ordered_dict.h>
#include <ambit/nn/pooling.h>
#include <ambit/nn/sequential.h>
#include <ambit/nn/serialize.h>
#include <ambit/nn/strays.h>
#include <ambit/nn/utils/clip_grad.h>
#include <ambit/nn/utils/convert_parameters.h>
