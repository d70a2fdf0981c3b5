// Sorting and searching composed of ops, for devices without kernels.
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/shape.h>

#include <bit>
#include <utility>

#include "core/ops/composite.h"
#include "core/ops/operands/unrecorded.h"

namespace ambit::composite {
namespace {

/// The comparison partners of all elements of a dim in one step of a sorting network.
struct Partners {
  Tensor place;  ///< int64 [n]: the partner's index, or its own
  Tensor lower;  ///< bool [n]: true if it gets the first of the pair
};

Partners pair(int64_t n, int64_t distance, int64_t bit, int64_t value, Device device) {
  const TensorOptions host(kCPU);
  const Tensor place = arange(n, host.dtype(kInt64)), lower = zeros({n}, host.dtype(kBool));
  auto* p = place.data_ptr<int64_t>();
  auto* is_lower = lower.data_ptr<bool>();
  for (int64_t i = 0; i + distance < n; ++i) {
    if ((i & bit) != value) continue;
    std::swap(p[i], p[i + distance]);
    is_lower[i] = true;
  }
  return {place.to(device), lower.to(device)};
}

/// True where a comes before b, with NaN as the largest number.
Tensor before(const Tensor& a, const Tensor& b, bool descending) {
  const Tensor& small = descending ? b : a;
  const Tensor& large = descending ? a : b;
  return logical_or(small < large, logical_and(isnan(large), logical_not(isnan(small))));
}

/// Values and their original indices along a dim while they are being sorted.
class Network {
 public:
  Network(const Tensor& x, int64_t dim, bool descending)
      : values_(x), dim_(dim), descending_(descending), along_(x.sizes().size(), 1) {
    along_[static_cast<size_t>(dim)] = x.size(dim);
    const Tensor line = arange(x.size(dim), TensorOptions(kInt64).device(x.device()));
    places_ = expand(reshape(line, along_), x.sizes());
  }

  /// Compare each element with its partner; ties are broken by index.
  void step(const Partners& with) {
    const Tensor value = index_select(values_, dim_, with.place);
    const Tensor place = index_select(places_, dim_, with.place);
    const Tensor tie = logical_not(before(value, values_, descending_));
    const Tensor first =
        logical_or(before(values_, value, descending_), logical_and(tie, places_ < place));
    const Tensor stays = first == reshape(with.lower, along_);
    values_ = where(stays, values_, value);
    places_ = where(stays, places_, place);
  }

  const Tensor& values() const { return values_; }
  const Tensor& places() const { return places_; }

 private:
  Tensor values_, places_;
  int64_t dim_;
  bool descending_;
  Dims along_;
};

}  // namespace

// Batcher's merge exchange, which works for any n. Source: Knuth, The Art of Computer Programming
// 3, algorithm 5.2.2M.
void sort(Tensor& y, Tensor& index, const Tensor& x, int64_t dim, bool descending) {
  const Tensor lines = at_least_1d(x);
  if (lines.numel() == 0) return;
  Network network(lines, dim, descending);
  const int64_t n = lines.size(dim);
  const auto top = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(n)) / 2);
  for (int64_t bit = top; bit > 0; bit /= 2) {
    int64_t distance = bit, value = 0;
    for (int64_t q = top;; q /= 2) {
      network.step(pair(n, distance, bit, value, x.device()));
      if (q == bit) break;
      distance = q - bit;
      value = bit;
    }
  }
  kernels::copy(y, reshape(network.values(), y.sizes()));
  kernels::copy(index, reshape(network.places(), y.sizes()));
}

void topk(Tensor& y, Tensor& index, const Tensor& x, int64_t dim, bool largest) {
  if (y.numel() == 0) return;
  const Tensor lines = at_least_1d(x);
  Tensor values = empty_like(lines), places = empty_like(lines, kInt64);
  kernels::sort(values, places, lines, dim, largest);
  const int64_t k = at_least_1d(y).size(dim);
  kernels::copy(y, reshape(narrow(values, dim, 0, k), y.sizes()));
  kernels::copy(index, reshape(narrow(places, dim, 0, k), y.sizes()));
}

// Search for all elements of x at once. index, x [R,M]; sorted [R,N] or [1,N]
void searchsorted(Tensor& index, const Tensor& sorted, const Tensor& x, bool right) {
  const int64_t n = sorted.size(1);
  Tensor low = zeros_like(x, kInt64), high = full_like(x, n, kInt64);
  const Tensor two = scalar_tensor(2, low.options());
  for (int64_t left = n; left > 0 && x.numel() > 0; left /= 2) {
    const Tensor searching = low < high;
    const Tensor mid = low + floor_divide(high - low, two);
    const Tensor at = clamp(mid, std::nullopt, n - 1);  // clamped for finished searches
    const Tensor value = sorted.size(0) == 1
                             ? reshape(index_select(sorted, 1, reshape(at, {-1})), x.sizes())
                             : gather(sorted, 1, at);
    const Tensor found = right ? value > x : value >= x;
    low = where(logical_and(searching, logical_not(found)), mid + 1, low);
    high = where(logical_and(searching, found), mid, high);
  }
  kernels::copy(index, low);
}

}  // namespace ambit::composite
