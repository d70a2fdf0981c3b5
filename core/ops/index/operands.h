// Code shared by indexing functions: checks of operands and conversion of indices for kernels.
#pragma once

#include <ambit/backend/op.h>
#include <ambit/tensor.h>

#include <initializer_list>
#include <string_view>

namespace ambit {

/// Check that all are defined and on compatible devices. Errors: Error naming the first undefined
/// one; DeviceMismatchError.
void check_operands(const char* op, std::initializer_list<DeviceArg> args,
                    DeviceRule rule = DeviceRule::strict);

/// Check that `input` shares no memory with self. Even a view of the same elements is refused,
/// since elements move. Errors: Error.
void check_apart(const char* op, const Tensor& self, const Tensor& input);

/// Errors: DTypeError for an index that is neither int64 nor int32; Error if undefined.
void expect_index_dtype(const char* op, const Tensor& index);

/// Return an int32 index as int64, which kernels require; any other index unchanged.
Tensor as_int64(const Tensor& index);

/// Return an int64 or int32 index as int64 [n], outside of any graph. Errors: DTypeError.
Tensor row_index(const char* op, const Tensor& index);

/// Slices of self along a dim, selected by an index.
struct RowsAt {
  /// Errors: IndexError (a dim or, on cpu, an index out of range), ShapeError (an index of more
  /// than one dim), DTypeError. Negative indices count from the end if `from_end`.
  RowsAt(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
         bool from_end = false);
  /// Check that source has that many slices and self's dtype. Errors: ShapeError, DTypeError.
  void check_source(const char* op, const Tensor& self, const Tensor& source) const;
  /// Expand the row indices as gather and scatter require: one index for each element of a tensor
  /// of `sizes`.
  Tensor of_each(IntArrayRef sizes) const;

  int64_t dim = 0;
  Tensor rows;  // int64 [n]
};

/// Return the index of a reduce name, such as "amax", in `names`, or throw Error: "<op>: expected
/// reduce to be prod or mean, got sum".
size_t one_of(const char* op, std::string_view reduce,
              std::initializer_list<std::string_view> names);

/// Errors: NotImplementedError for a meta tensor, since the result's shape depends on data.
void check_has_data(const char* op, const Tensor& t);

/// Convert a bool or uint8 mask to bool. Errors: DTypeError.
Tensor bool_mask(const char* op, const Tensor& mask);
/// Return the number of true elements of a bool tensor, for any true byte values. Waits.
int64_t count_true(const Tensor& mask);

}  // namespace ambit
