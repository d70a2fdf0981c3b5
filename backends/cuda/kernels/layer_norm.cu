// Layer and RMS normalisation and their gradient: rows x [M,N], each read from memory once by a
// warp or a block. Gradients of weight and bias are summed along columns in parts of the rows,
// which are then added in a fixed order.
#include <algorithm>

#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/lines.cuh"
#include "backends/cuda/runtime/workspace.h"
#include "upcast_operand.h"

namespace ambit::cuda {
namespace {

template <class T>
const T* data_or_null(const Tensor& t) {
  return t.defined() ? t.data_ptr<T>() : nullptr;
}

// y, x [M,N]; mean, invstd [M]; w, b [N] or null.
template <class T, int kLanes>
__global__ void normalize_rows(ContiguousLines rows, double eps, bool centered, T* y,
                               Computed<T>* mean, Computed<T>* invstd, const T* x, const T* w,
                               const T* b) {
  using S = Computed<T>;
  for_each_line<kLanes>(rows, [&](int64_t row, int64_t lane) {
    const int64_t N = rows.length, start = row * N;
    const auto n = static_cast<double>(N);
    double sum = 0, squares = 0;
    for (int64_t j = lane; j < N; j += kLanes) sum += static_cast<double>(upcast(x[start + j]));
    const double center = centered ? sum_line<kLanes>(sum) / n : 0;
    for (int64_t j = lane; j < N; j += kLanes) {
      const double d = static_cast<double>(upcast(x[start + j])) - center;
      squares += d * d;
    }
    const double inverse = 1 / std::sqrt(sum_line<kLanes>(squares) / n + eps);
    if (lane == 0) {
      mean[row] = static_cast<S>(center);
      invstd[row] = static_cast<S>(inverse);
    }
    for (int64_t j = lane; j < N; j += kLanes) {
      const S u = static_cast<S>((static_cast<double>(upcast(x[start + j])) - center) * inverse);
      y[start + j] = downcast<T>((w ? u * upcast(w[j]) : u) + (b ? upcast(b[j]) : S(0)));
    }
  });
}

// dx = invstd (g - mean(g) - u mean(g u)) with g = dy w and u = (x - mean) invstd.
template <class T, int kLanes>
__global__ void row_grads(ContiguousLines rows, bool centered, T* dx, const T* dy, const T* x,
                          const T* w, const Computed<T>* mean, const Computed<T>* invstd) {
  for_each_line<kLanes>(rows, [&](int64_t row, int64_t lane) {
    const int64_t N = rows.length, start = row * N;
    const auto center = static_cast<double>(mean[row]), inverse = static_cast<double>(invstd[row]);
    const auto g = [&](int64_t j) {
      return static_cast<double>(upcast(dy[start + j])) *
             (w ? static_cast<double>(upcast(w[j])) : 1);
    };
    const auto u = [&](int64_t j) {
      return (static_cast<double>(upcast(x[start + j])) - center) * inverse;
    };
    double sum_g = 0, sum_gu = 0;
    for (int64_t j = lane; j < N; j += kLanes) {
      sum_g += g(j);
      sum_gu += g(j) * u(j);
    }
    const auto n = static_cast<double>(N);
    const double mean_g = centered ? sum_line<kLanes>(sum_g) / n : 0;
    const double mean_gu = sum_line<kLanes>(sum_gu) / n;
    for (int64_t j = lane; j < N; j += kLanes) {
      dx[start + j] = downcast<T>(inverse * (g(j) - mean_g - u(j) * mean_gu));
    }
  });
}

struct ColumnSums {
  double dyu, dy;
};

// sums [parts,N]: of dy u and dy over the rows of a part; one thread per column and part.
template <class T>
__global__ void sum_columns(int64_t M, int64_t N, int64_t parts, ColumnSums* sums, const T* dy,
                            const T* x, const Computed<T>* mean, const Computed<T>* invstd) {
  for (int64_t i = thread_index(); i < parts * N; i += thread_count()) {
    const int64_t part = i / N, column = i % N, rows = (M + parts - 1) / parts;
    ColumnSums sum{0, 0};
    for (int64_t row = part * rows; row < min(M, (part + 1) * rows); ++row) {
      const auto g = static_cast<double>(upcast(dy[row * N + column]));
      const auto d =
          static_cast<double>(upcast(x[row * N + column])) - static_cast<double>(mean[row]);
      sum.dyu += g * d * static_cast<double>(invstd[row]);
      sum.dy += g;
    }
    sums[i] = sum;
  }
}

// dw, db [N]
template <class T>
__global__ void add_parts(int64_t N, int64_t parts, T* dw, T* db, const ColumnSums* sums) {
  for (int64_t column = thread_index(); column < N; column += thread_count()) {
    ColumnSums sum{0, 0};
    for (int64_t part = 0; part < parts; ++part) {
      sum.dyu += sums[part * N + column].dyu;
      sum.dy += sums[part * N + column].dy;
    }
    dw[column] = downcast<T>(sum.dyu);
    db[column] = downcast<T>(sum.dy);
  }
}

// Return enough parts to keep the GPU busy even with few columns.
int64_t parts_of(int64_t M, int64_t N) {
  constexpr int64_t kBusy = int64_t{1} << 16, kLeastRows = 16;
  return std::clamp<int64_t>(kBusy / std::max<int64_t>(1, N), 1,
                             std::max<int64_t>(1, M / kLeastRows));
}

}  // namespace

void layer_norm(Tensor& y, Tensor& mean, Tensor& invstd, const Tensor& x, const Tensor& w,
                const Tensor& b, double eps, bool centered) {
  UpcastOperand own_mean = UpcastOperand::for_output(mean),
                own_invstd = UpcastOperand::for_output(invstd);
  visit_lines<dtypes::kAnyFloating>(
      x, 1, [&]<class T, int kLanes>(const ContiguousLines& rows, Grid grid) {
        using S = Computed<T>;
        launch(normalize_rows<T, kLanes>, grid, rows, eps, centered, y.data_ptr<T>(),
               own_mean.data<S>(), own_invstd.data<S>(), x.data_ptr<T>(), data_or_null<T>(w),
               data_or_null<T>(b));
      });
  own_mean.write_back();
  own_invstd.write_back();
}

void layer_norm_grad(Tensor& dx, Tensor& dw, Tensor& db, const Tensor& dy, const Tensor& x,
                     const Tensor& w, const Tensor& mean, const Tensor& invstd, bool centered) {
  const UpcastOperand own_mean(mean), own_invstd(invstd);
  visit_lines<dtypes::kAnyFloating>(
      x, 1, [&]<class T, int kLanes>(const ContiguousLines& rows, Grid grid) {
        using S = Computed<T>;
        launch(row_grads<T, kLanes>, grid, rows, centered, dx.data_ptr<T>(), dy.data_ptr<T>(),
               x.data_ptr<T>(), data_or_null<T>(w), own_mean.data<S>(), own_invstd.data<S>());
      });
  const int64_t M = x.size(0), N = x.size(1);
  if (N == 0) return;
  const int64_t parts = parts_of(M, N);
  const Workspace sums(static_cast<size_t>(parts * N) * sizeof(ColumnSums));
  visit<dtypes::kAnyFloating>(x.dtype(), [&]<class T>() {
    using S = Computed<T>;
    launch(sum_columns<T>, grid_for(parts * N), M, N, parts, sums.as<ColumnSums>(),
           dy.data_ptr<T>(), x.data_ptr<T>(), own_mean.data<S>(), own_invstd.data<S>());
    launch(add_parts<T>, grid_for(N), N, parts, dw.data_ptr<T>(), db.data_ptr<T>(),
           sums.as<ColumnSums>());
  });
}

}  // namespace ambit::cuda
