// Functions that only plans call.
#pragma once

#include "nn/graph/call.h"

namespace ambit::graph {

extern const Function kConvolutionMap;  ///< a convolution followed by relu or gelu
extern const Function kLinearMap;       ///< a linear layer followed by relu or gelu
extern const Function kFoldedWeight;    ///< the weight of a layer that includes a batch norm
extern const Function kFoldedBias;      ///< the bias of such a layer

}  // namespace ambit::graph
