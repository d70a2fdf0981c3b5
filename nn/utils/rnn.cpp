// Padded and packed sequences.
#include <ambit/error.h>
#include <ambit/nn/utils/rnn.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "nn/recurrent_step.h"

namespace ambit::nn::utils::rnn {
namespace {

std::vector<int64_t> numbers(const char* function, const char* what, const Tensor& t) {
  if (!t.defined() || t.dim() != 1 || t.dtype() != kInt64 || !t.is_cpu()) {
    throw Error(fmt::format("{}: expected {} to be a 1-D int64 tensor on the cpu", function, what));
  }
  const Tensor row = t.contiguous();
  return {row.data_ptr<int64_t>(), row.data_ptr<int64_t>() + row.numel()};
}

Tensor int64s(const std::vector<int64_t>& values) {
  Tensor out = empty({static_cast<int64_t>(values.size())}, TensorOptions(kInt64).device(kCPU));
  std::copy(values.begin(), values.end(), out.data_ptr<int64_t>());
  return out;
}

Tensor moved(const Tensor& t, const TensorOptions& options) {
  return t.defined() && options.has_device() ? t.to(options.device()) : t;
}

}  // namespace

PackedSequence::PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices,
                               Tensor unsorted_indices)
    : data_(std::move(data)),
      batch_sizes_(std::move(batch_sizes)),
      sorted_indices_(std::move(sorted_indices)),
      unsorted_indices_(std::move(unsorted_indices)) {
  numbers("PackedSequence", "batch_sizes", batch_sizes_);
  batch_sizes_ = batch_sizes_.contiguous();
  if (!data_.defined() || data_.dim() == 0) {
    throw ShapeError(
        "PackedSequence: expected data of shape [rows, ...], got a tensor without dims");
  }
  recurrent::check_batch_sizes("PackedSequence", batch_sizes_, data_.size(0));
  if (sorted_indices_.defined() && !unsorted_indices_.defined()) {
    unsorted_indices_ = invert_permutation(sorted_indices_);
  }
}

PackedSequence PackedSequence::to(const TensorOptions& options) const {
  return PackedSequence(data_.to(options), batch_sizes_, moved(sorted_indices_, options),
                        moved(unsorted_indices_, options));
}

Tensor invert_permutation(const Tensor& permutation) {
  if (!permutation.defined()) return {};
  const Tensor places =
      arange(permutation.numel(), TensorOptions(kInt64).device(permutation.device()));
  return zeros_like(permutation).scatter_(0, permutation, places);
}

PackedSequence pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first,
                                    bool enforce_sorted) {
  constexpr const char* kName = "pack_padded_sequence";
  if (!input.defined() || input.dim() < 2) {
    throw ShapeError(fmt::format("{}: expected an input of at least 2 dims", kName));
  }
  if (batch_first) input = input.transpose(0, 1);
  std::vector<int64_t> sizes = numbers(kName, "lengths", lengths);
  const int64_t steps = input.size(0), batch = input.size(1);
  if (static_cast<int64_t>(sizes.size()) != batch || batch == 0) {
    throw ShapeError(
        fmt::format("{}: expected {} lengths, at least one, got {}", kName, batch, sizes.size()));
  }
  for (const int64_t n : sizes) {
    if (n < 1 || n > steps) {
      throw Error(fmt::format("{}: expected lengths in [1, {}], got {}", kName, steps, n));
    }
  }
  Tensor order;
  if (!enforce_sorted) {
    std::vector<int64_t> by_length(sizes.size());
    std::iota(by_length.begin(), by_length.end(), 0);
    std::stable_sort(by_length.begin(), by_length.end(), [&](int64_t a, int64_t b) {
      return sizes[static_cast<size_t>(a)] > sizes[static_cast<size_t>(b)];
    });
    order = int64s(by_length).to(input.device());
    input = input.index_select(1, order);
    std::sort(sizes.begin(), sizes.end(), std::greater<>());
  } else if (!std::is_sorted(sizes.begin(), sizes.end(), std::greater<>())) {
    throw Error(fmt::format(
        "{}: expected lengths in descending order; pass enforce_sorted=false for others", kName));
  }
  std::vector<int64_t> rows(static_cast<size_t>(sizes.front()));
  std::vector<Tensor> pieces;
  for (size_t t = 0; t < rows.size(); ++t) {
    rows[t] = std::count_if(sizes.begin(), sizes.end(),
                            [&](int64_t n) { return n > static_cast<int64_t>(t); });
    pieces.push_back(input[static_cast<int64_t>(t)].narrow(0, 0, rows[t]));
  }
  return PackedSequence(cat(pieces, 0), int64s(rows), order);
}

std::tuple<Tensor, Tensor> pad_packed_sequence(const PackedSequence& sequence, bool batch_first,
                                               double padding_value,
                                               std::optional<int64_t> total_length) {
  constexpr const char* kName = "pad_packed_sequence";
  const std::vector<int64_t> rows = numbers(kName, "batch_sizes", sequence.batch_sizes());
  const auto steps = static_cast<int64_t>(rows.size());
  if (steps == 0) throw Error(fmt::format("{}: expected a sequence of at least one step", kName));
  if (total_length.value_or(steps) < steps) {
    throw Error(fmt::format("{}: expected a total_length of at least {}, got {}", kName, steps,
                            *total_length));
  }
  const int64_t batch = rows.front();
  std::vector<int64_t> lengths(static_cast<size_t>(batch), 0);
  std::vector<Tensor> out;
  int64_t at = 0;
  for (const int64_t n : rows) {
    const Tensor step = sequence.data().narrow(0, at, n);
    at += n;
    Dims rest(step.sizes());
    rest[0] = batch - n;
    out.push_back(n == batch ? step : cat({step, full(rest, padding_value, step.options())}, 0));
    for (int64_t b = 0; b < n; ++b) ++lengths[static_cast<size_t>(b)];
  }
  Tensor padded = stack(out, 0);
  if (total_length.value_or(steps) > steps) {
    Dims rest(padded.sizes());
    rest[0] = *total_length - steps;
    padded = cat({padded, full(rest, padding_value, padded.options())}, 0);
  }
  Tensor sizes = int64s(lengths);
  if (sequence.unsorted_indices().defined()) {
    padded = padded.index_select(1, sequence.unsorted_indices());
    sizes = sizes.index_select(0, sequence.unsorted_indices().cpu());
  }
  return {batch_first ? padded.transpose(0, 1) : padded, sizes};
}

Tensor pad_sequence(TensorList sequences, bool batch_first, double padding_value,
                    std::string_view padding_side) {
  constexpr const char* kName = "pad_sequence";
  const bool left = padding_side == "left";
  if (!left && padding_side != "right") {
    throw Error(
        fmt::format("{}: expected padding_side left or right, got \"{}\"", kName, padding_side));
  }
  if (sequences.empty()) throw Error(fmt::format("{}: expected at least one sequence", kName));
  int64_t longest = 0;
  for (const Tensor& s : sequences) {
    if (s.dim() == 0) {
      throw ShapeError(fmt::format("{}: expected sequences [length,...], got a scalar", kName));
    }
    longest = std::max(longest, s.size(0));
  }
  std::vector<Tensor> padded;
  for (const Tensor& s : sequences) {
    Dims rest(s.sizes());
    rest[0] = longest - s.size(0);
    if (rest[0] == 0) {
      padded.push_back(s);
      continue;
    }
    const Tensor padding = full(rest, padding_value, s.options());
    padded.push_back(left ? cat({padding, s}, 0) : cat({s, padding}, 0));
  }
  return stack(padded, batch_first ? 0 : 1);
}

PackedSequence pack_sequence(TensorList sequences, bool enforce_sorted) {
  std::vector<int64_t> lengths;
  for (const Tensor& s : sequences) lengths.push_back(s.dim() > 0 ? s.size(0) : 0);
  return pack_padded_sequence(pad_sequence(sequences), int64s(lengths), /*batch_first=*/false,
                              enforce_sorted);
}

}  // namespace ambit::nn::utils::rnn
