// NumPy's arrays, numbers and dtypes in pickles. Private to core.
#pragma once

#include <ambit/value.h>

#include <optional>
#include <span>
#include <string_view>

#include "core/files/pytorch/pickle.h"

namespace ambit::pickle {

inline constexpr std::string_view kNumpyArray = "numpy.ndarray", kNumpyDType = "numpy.dtype";
inline constexpr std::string_view kNumpyReconstruct = "numpy._core.multiarray._reconstruct";
inline constexpr std::string_view kNumpyScalar = "numpy._core.multiarray.scalar";
inline constexpr std::string_view kNumpyFromBuffer = "numpy._core.numeric._frombuffer";

/// An array or a dtype; the opcode BUILD completes it.
struct NumpyObject {
  bool is_array = false;
  Value finished{};  ///< a tensor or an opaque value; None for an array before BUILD
};

// Errors of all: SerializationError naming the problem.

/// Make a dtype, an opaque value, from (name, align, copy).
NumpyObject make_dtype(std::span<const Value> given);
/// Set the state of an array: (version, shape, dtype, is_fortran, bytes); or of a dtype: (version,
/// byte order, subarray, names, fields, ...).
void set_state(NumpyObject& object, const Value& state, Budget& budget);
/// Return an array from (buffer, dtype, shape, order): a tensor, or an opaque value for a dtype
/// that ambit lacks.
Value array_from_buffer(std::span<const Value> given, Budget& budget);
/// Return a number from (dtype, bytes): a bool, an int or a float, or an opaque value.
Value number_from_bytes(std::span<const Value> given);

}  // namespace ambit::pickle
