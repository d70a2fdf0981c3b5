// Networks with int8 weights, for inference.
#pragma once

#include <ambit/nn/module.h>

#include <string>
#include <vector>

namespace ambit::nn {

/// Convert the weight matrices of this module and of all below to int8, with a scale for each row:
/// those of Linear, RNN, LSTM, GRU and their cells, of MultiheadAttention's projections, and of
/// user classes derived from Quantizable (quantizable.h). Products use linear_int8
/// (ops/quantized.h), which quantizes its inputs row by row; everything else, including biases, is
/// unchanged. Return the paths of the converted modules, "" for this one; modules that are int8
/// already are skipped.
///
/// A weight becomes an int8 buffer of the same name, and its scales a float32 buffer
/// "<name>_scale", so both are saved, loaded, moved and cloned. The remaining parameters of
/// converted modules no longer require grad; a backward pass through them throws
/// NotImplementedError. Load a floating-point file before the conversion, an int8 file into a
/// converted network. to(dtype) converts only the scales, for which the range of float16 may be too
/// narrow; autocast has no effect. If a weight tensor is shared, for example with an embedding, the
/// other owner keeps it unchanged. Weights may be float32, float16 or bfloat16, on any device.
/// Errors: DTypeError for other dtypes, Error for a weight with NaN or Inf, ShapeError for rows of
/// more than 131072 elements; then nothing has changed. Source:
/// torch.ao.quantization.quantize_dynamic, which by default uses one scale per matrix and does not
/// support RNN and attention.
AMBIT_API std::vector<std::string> quantize_dynamic(Module& module);

}  // namespace ambit::nn
