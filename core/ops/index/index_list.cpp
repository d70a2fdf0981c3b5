// The parser of index lists: one pass over the list that builds a view and its axes.
#include "index_list.h"

#include <ambit/backend/op.h>
#include <ambit/detail/warning.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/ops/operands/expect.h"
#include "index_values.h"

namespace ambit {

using indexing::TensorIndex;
using Kind = TensorIndex::Kind;

TensorIndex::TensorIndex(const char* dots) : kind_(Kind::ellipsis) {
  if (!dots || std::string_view(dots) != "...") {
    throw Error(fmt::format("index: expected \"...\", got \"{}\"", dots ? dots : ""));
  }
}

bool ParsedIndex::is_view() const {
  return std::none_of(axes.begin(), axes.end(),
                      [](const AxisIndex& a) { return a.index.defined(); });
}

namespace {

// uint8 was the dtype of masks before bool existed.
bool is_mask(const Tensor& t) { return t.dtype() == kBool || t.dtype() == kUInt8; }

// Return the number of self's dims that an index consumes.
int64_t dims_taken(const char* op, const TensorIndex& i) {
  switch (i.kind()) {
    case Kind::integer:
    case Kind::slice:
      return 1;
    case Kind::tensor:
      if (is_mask(i.tensor())) return i.tensor().dim();
      if (i.tensor().dtype() == kInt64 || i.tensor().dtype() == kInt32) return 1;
      if (i.tensor().dim() == 0 && !is_floating_point(i.tensor().dtype())) return 1;
      throw DTypeError(
          fmt::format("{}: expected an index tensor of int64, int32, bool or uint8, got {}", op,
                      name(i.tensor().dtype())));
    default:
      return 0;
  }
}

// Processes the list from left to right; `dim` counts in the view so far, `source` in self.
class Parser {
 public:
  Parser(const char* op, const Tensor& self, int64_t dims_of_ellipsis)
      : op_(op), ellipsis_(dims_of_ellipsis), view_(self) {}

  void take(const TensorIndex& i) {
    switch (i.kind()) {
      case Kind::none:
        return insert({});
      case Kind::ellipsis:
        return skip(ellipsis_);
      case Kind::integer:
        return select_at(i.integer());
      case Kind::boolean:
        return insert(zeros({i.integer() ? 1 : 0}, TensorOptions(kInt64).device(kCPU)));
      case Kind::slice:
        view_ = slice(view_, dim(), i.slice().start(), i.slice().stop(), i.slice().step());
        return skip(1);
      case Kind::tensor:
        if (i.tensor().dtype() == kUInt8) detail::warn(detail::Warning::byte_index, op_);
        return is_mask(i.tensor()) ? take_mask(i.tensor().to(kBool))
                                   : take_places(i.tensor().to(kInt64));
    }
  }

  ParsedIndex finish() {
    skip(view_.dim() - dim());
    return {std::move(view_), std::move(axes_)};
  }

 private:
  int64_t dim() const { return static_cast<int64_t>(axes_.size()); }

  void skip(int64_t n) {
    for (; n > 0; --n) add({});
  }
  // Add an axis of the view for one dim of self.
  void add(Tensor index) {
    axes_.push_back({std::move(index), view_.size(dim()), source_});
    ++source_;
  }
  // Insert a new axis of size 1, which `index` may repeat or drop.
  void insert(Tensor index) {
    view_ = unsqueeze(view_, dim());
    axes_.push_back({std::move(index), 1, source_});
  }
  void select_at(int64_t i) {
    const int64_t size = view_.size(dim());
    if (i < -size || i >= size) throw_index(op_, -size, size, source_, i);
    view_ = select(view_, dim(), i);
    ++source_;
  }
  void take_places(const Tensor& t) {
    if (t.dim() > 0) return add(t);
    // As in libtorch, a 0-dim tensor acts as its number; meta has no data.
    select_at(t.is_meta() ? 0 : t.item<int64_t>());
  }
  void take_mask(const Tensor& t) {
    if (t.dim() == 0) {
      return insert(zeros({t.item<bool>() ? 1 : 0}, TensorOptions(kInt64).device(kCPU)));
    }
    for (int64_t k = 0; k < t.dim(); ++k) {
      if (t.size(k) == view_.size(dim() + k)) continue;
      throw IndexError(fmt::format("{}: expected a mask of size {} at its dim {}, got shape {}",
                                   op_, view_.size(dim() + k), k, str(t.sizes())));
    }
    const Tensor places = nonzero(t);
    for (int64_t k = 0; k < t.dim(); ++k) add(select(places, 1, k));
  }

  const char* op_;
  int64_t ellipsis_, source_ = 0;
  Tensor view_;
  std::vector<AxisIndex> axes_;
};

}  // namespace

void check_index_devices(const char* op, const Tensor& self, IndexList indices,
                         const Tensor* value) {
  // Names must outlive the check; longer lists do not occur in practice.
  static constexpr std::array kNames = {"indices[0]", "indices[1]", "indices[2]", "indices[3]",
                                        "indices[4]", "indices[5]", "indices[6]", "indices[7]"};
  std::vector<DeviceArg> args{{"self", self}};
  size_t position = 0;
  for (const TensorIndex& i : indices) {
    if (i.kind() == Kind::tensor) {
      args.emplace_back(position < kNames.size() ? kNames[position] : "indices", i.tensor());
      args.back().may_be_on_cpu = true;
    }
    ++position;
  }
  if (value) {
    args.emplace_back("value", *value);
    args.back().may_be_on_cpu = value->defined() && value->dim() == 0;
  }
  for (const DeviceArg& arg : args) expect_defined(op, arg.name, *arg.tensors);
  check_devices(op, args, DeviceRule::in_place);
}

ParsedIndex parse_index(const char* op, const Tensor& self, IndexList indices,
                        const Tensor* value) {
  check_index_devices(op, self, indices, value);
  if (indices.empty()) {
    throw IndexError(fmt::format("{}: expected at least one index, got none", op));
  }
  int64_t taken = 0, dots = 0;
  for (const TensorIndex& i : indices) {
    taken += dims_taken(op, i);
    dots += i.kind() == Kind::ellipsis;
  }
  if (dots > 1) throw IndexError(fmt::format("{}: expected one ellipsis, got {}", op, dots));
  if (taken > self.dim()) {
    throw IndexError(
        fmt::format("{}: expected indices for at most {} dims, got {}", op, self.dim(), taken));
  }
  Parser parser(op, self, self.dim() - taken);
  for (const TensorIndex& i : indices) parser.take(i);
  return parser.finish();
}

}  // namespace ambit
