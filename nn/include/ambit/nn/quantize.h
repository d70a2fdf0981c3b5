// Networks with int8 weights, for inference.
#pragma once

#include <ambit/nn/module.h>

#include <string>
#include <vector>

namespace ambit::nn {

/// Make the weight matrices of this module and of all below it int8, with a factor for each row:
/// those of Linear, RNN, LSTM, GRU and their cells, and of MultiheadAttention's projections; those
/// of a class of one's own that is Quantizable (quantizable.h). Their products are
/// linear_int8's (ops/quantized.h), whose inputs are written as int8 row by row; all else, biases
/// too, stays as it is. Return the paths of the modules that were changed, "" for this one; one
/// that is int8 already is passed over.
///
/// A weight becomes a buffer of its name, int8, and its factors one more, "<name>_scale", float32:
/// so they are saved, loaded, moved and cloned. What the modules keep of parameters needs no
/// gradient any more; a backward that comes through them throws NotImplementedError. A float
/// network's file is loaded before, an int8 network's into one that was made int8. to(dtype) leaves
/// the weights, and converts the factors, which float16 may be too narrow for; autocast changes
/// nothing. A tensor that others hold too, such as an embedding, stays as it is for them.
/// Weights may be float32, float16 or bfloat16, on any device. Errors: DTypeError for others, Error
/// for one with NaN or Inf, ShapeError for rows of more than 131072; then nothing has changed.
/// Source: torch.ao.quantization.quantize_dynamic, there with one factor for a whole matrix by
/// default, and without RNN and attention.
AMBIT_API std::vector<std::string> quantize_dynamic(Module& module);

}  // namespace ambit::nn
