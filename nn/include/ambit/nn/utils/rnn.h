// nn::utils::rnn: batches of sequences of different lengths, padded or packed. Shapes: T steps, B
// sequences, * any further dims.
#pragma once

#include <ambit/tensor.h>

#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace ambit::nn::utils::rnn {

/// Sequences packed step by step: step 0 of all sequences, then step 1 of those that have one, ...
/// Recurrent modules process it without computing on padding.
class AMBIT_API PackedSequence {
 public:
  /// Hold no sequences; the tensors are undefined.
  PackedSequence() = default;
  /// Hold packed sequences; pack_padded_sequence() makes them. Errors: ShapeError unless
  /// batch_sizes are positive, non-increasing, and sum to the rows of data.
  explicit PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices = {},
                          Tensor unsorted_indices = {});
  const Tensor& data() const { return data_; }                ///< [sum of lengths, *]
  const Tensor& batch_sizes() const { return batch_sizes_; }  ///< int64 [T] on cpu, non-increasing
  /// int64 [B]: positions of the sequences before they were sorted by length; undefined if not
  /// sorted.
  const Tensor& sorted_indices() const { return sorted_indices_; }
  /// int64 [B], the inverse of sorted_indices(); undefined if not sorted.
  const Tensor& unsorted_indices() const { return unsorted_indices_; }
  /// Return the device of data().
  Device device() const { return data_.device(); }
  /// Return whether data() is on a CUDA device.
  bool is_cuda() const { return data_.is_cuda(); }
  /// Return the sequence with data converted and moved; batch_sizes stay on cpu.
  PackedSequence to(const TensorOptions& options) const;
  /// Return the sequence with data on the cpu.
  PackedSequence cpu() const { return to(TensorOptions().device(kCPU)); }
  /// Return the sequence with data on the current CUDA device.
  PackedSequence cuda() const { return to(TensorOptions().device(kCUDA)); }

 private:
  Tensor data_, batch_sizes_, sorted_indices_, unsorted_indices_;
};

/// Return the inverse of `permutation`, int64 [B].
AMBIT_API Tensor invert_permutation(const Tensor& permutation);
/// Pack input [T,B,*], or [B,T,*] with batch_first; sequence b has lengths[b] steps, lengths int64
/// [B] on cpu. enforce_sorted: lengths must be non-increasing; otherwise the sequences are sorted.
/// Errors: ShapeError; Error for a length outside [1, T], or for unsorted lengths with
/// enforce_sorted. Gradient: input.
AMBIT_API PackedSequence pack_padded_sequence(Tensor input, Tensor lengths,
                                              bool batch_first = false, bool enforce_sorted = true);
/// Return the sequences padded with `padding_value`, [T,B,*] or [B,T,*], and their lengths, int64
/// [B]. total_length: T, default the longest length. Errors: Error if total_length is less than
/// that. Gradient: the packed data.
AMBIT_API std::tuple<Tensor, Tensor> pad_packed_sequence(const PackedSequence& sequence,
                                                         bool batch_first = false,
                                                         double padding_value = 0,
                                                         std::optional<int64_t> total_length = {});
/// Stack sequences [length,*], padded to the longest at their end, or for padding_side "left" at
/// their beginning: [T,B,*] or [B,T,*]. Errors: Error for an empty list or another side;
/// ShapeError. Gradient: all sequences.
AMBIT_API Tensor pad_sequence(TensorList sequences, bool batch_first = false,
                              double padding_value = 0, std::string_view padding_side = "right");
/// Pack sequences [length,*]. Errors and gradient: as pad_sequence and pack_padded_sequence.
AMBIT_API PackedSequence pack_sequence(TensorList sequences, bool enforce_sorted = true);

}  // namespace ambit::nn::utils::rnn
