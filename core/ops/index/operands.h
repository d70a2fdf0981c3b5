// What functions that index share: checks of their operands, and indices as kernels take them.
#pragma once

#include <ambit/backend/op.h>
#include <ambit/tensor.h>

#include <initializer_list>
#include <string_view>

namespace ambit {

/// Check that all are defined and on devices that may go together. Errors: Error, which names the
/// first undefined one; DeviceMismatchError.
void check_operands(const char* op, std::initializer_list<DeviceArg> args,
                    DeviceRule rule = DeviceRule::strict);

/// Check that `input` shares no memory with self: elements move, so that not even the same ones in
/// the same places may be read. Errors: Error.
void check_apart(const char* op, const Tensor& self, const Tensor& input);

/// Return an index of int64 or int32 as int64 [n], seen by no graph. Errors: DTypeError.
Tensor row_index(const char* op, const Tensor& index);

/// Slices of self along a dim, and a source of as many.
struct RowsAt {
  /// Errors: IndexError (a dim or, on cpu, an index out of range), ShapeError (an index of more
  /// than one dim), DTypeError. Negative indices count from the end where `from_end`.
  RowsAt(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
         bool from_end = false);
  /// Check that source has these slices, of self's dtype. Errors: ShapeError, DTypeError.
  void check_source(const char* op, const Tensor& self, const Tensor& source) const;
  /// Return rows as gather and scatter want them: one for each element of a tensor of `sizes`.
  Tensor of_each(IntArrayRef sizes) const;

  int64_t dim = 0;
  Tensor rows;  // int64 [n]
};

/// Return the function of a name, such as "amax", or throw Error: "<op>: expected reduce to be prod
/// or mean, got sum".
size_t one_of(const char* op, std::string_view reduce,
              std::initializer_list<std::string_view> names);

/// Errors: NotImplementedError for a meta tensor, where the result's shape depends on data.
void check_has_data(const char* op, const Tensor& t);

/// Return a mask of bool or uint8 as bool. Errors: DTypeError.
Tensor bool_mask(const char* op, const Tensor& mask);
/// Return how many elements of a bool tensor are true, whatever bytes stand for that. Waits.
int64_t count_true(const Tensor& mask);

}  // namespace ambit
