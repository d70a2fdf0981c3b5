// Arrays of NumPy in files: the format .npy, versions 1 to 3.
#pragma once

#include <ambit/tensor.h>

#include <string>

/// Read an array into a tensor on the cpu; row-major, of a dtype that ambit has, little-endian.
/// Errors: SerializationError naming the path and the cause.
ambit::Tensor read_npy(const std::string& path);
/// Write a tensor, bfloat16 as float32, which NumPy has. Errors: SerializationError.
void write_npy(const ambit::Tensor& t, const std::string& path);
