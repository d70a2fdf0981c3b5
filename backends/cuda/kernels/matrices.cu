#include "matrices.h"

#include <ambit/backend/arithmetic.h>

#include <algorithm>
#include <limits>

#include "backends/cuda/kernels.h"
#include "backends/cuda/runtime/launch.h"
#include "transpose.h"

namespace ambit::cuda {
namespace {

template <class T>
__global__ void write_addresses(int64_t batch, T* first, int64_t step, T** to) {
  for (int64_t b = thread_index(); b < batch; b += thread_count()) to[b] = first + b * step;
}

/// An element of [batch,rows,columns].
struct Element {
  int64_t matrix, row, column;

  AMBIT_HOST_DEVICE Element(int64_t i, int64_t rows, int64_t columns)
      : matrix(i / columns / rows), row(i / columns % rows), column(i % columns) {}
  AMBIT_HOST_DEVICE bool is_in(Triangle part) const {
    return part == Triangle::both || (part == Triangle::lower ? row >= column : row <= column);
  }
};

/// The index space of an elementwise function on [batch,rows,columns], or on one row each.
struct Extent {
  int64_t batch, rows, columns;

  explicit Extent(const Tensor& t)
      : batch(t.size(0)), rows(t.dim() == 3 ? t.size(1) : 1), columns(t.size(-1)) {}
  AMBIT_HOST_DEVICE int64_t numel() const { return batch * rows * columns; }
  AMBIT_HOST_DEVICE Element at(int64_t i) const { return Element(i, rows, columns); }
};

// Several threads may mark one matrix, with the same value.
template <class T>
__global__ void mark_elements(Extent e, Triangle part, const T* x, volatile int32_t* marks) {
  for (int64_t i = thread_index(); i < e.numel(); i += thread_count()) {
    if (arithmetic::is_finite(x[i])) continue;
    const Element at = e.at(i);
    if (at.is_in(part)) marks[at.matrix] = 1;
  }
}

template <class T>
__global__ void write_identity(Extent e, const int32_t* marks, T* y) {
  for (int64_t i = thread_index(); i < e.numel(); i += thread_count()) {
    const Element at = e.at(i);
    if (!marks || marks[at.matrix] != 0) y[i] = static_cast<T>(at.row == at.column);
  }
}

template <class T>
__global__ void write_nan(Extent e, Triangle part, const int32_t* marks, T* y) {
  for (int64_t i = thread_index(); i < e.numel(); i += thread_count()) {
    const Element at = e.at(i);
    if (marks[at.matrix] != 0 && at.is_in(part)) y[i] = std::numeric_limits<T>::quiet_NaN();
  }
}

__global__ void write_info(int64_t batch, const int32_t* marks, int32_t* info) {
  for (int64_t b = thread_index(); b < batch; b += thread_count()) {
    if (marks[b] != 0) info[b] = 1;
  }
}

template <class T>
__global__ void take_upper(Extent e, const T* columns, int64_t M, int64_t step, T* y) {
  for (int64_t i = thread_index(); i < e.numel(); i += thread_count()) {
    const Element at = e.at(i);
    const bool is_upper = at.row <= at.column;
    y[i] = is_upper ? columns[at.matrix * step + at.column * M + at.row] : T(0);
  }
}

template <class T>
__global__ void clear_but(Extent e, Triangle part, T* y) {
  for (int64_t i = thread_index(); i < e.numel(); i += thread_count()) {
    if (!e.at(i).is_in(part)) y[i] = T(0);
  }
}

struct IsZero {
  template <class T>
  AMBIT_HOST_DEVICE bool operator()(T x) const {
    return x == 0;
  }
};
struct IsNotPositive {
  template <class T>
  AMBIT_HOST_DEVICE bool operator()(T x) const {
    return !(x > 0);
  }
};

// Return the first 1-based position on the diagonal of x [rows,columns] that is bad, or 0. Must be
// called by all threads of a block.
template <class T, class IsBad>
__device__ int32_t first_bad(const T* x, int64_t K, int64_t columns, IsBad is_bad) {
  __shared__ int32_t first[kThreads];
  int32_t mine = 0;
  for (int64_t i = threadIdx.x; i < K && mine == 0; i += kThreads) {
    if (is_bad(x[i * (columns + 1)])) mine = static_cast<int32_t>(i + 1);
  }
  first[threadIdx.x] = mine;
  __syncthreads();
  int32_t least = 0;
  if (threadIdx.x == 0) {
    for (const int32_t i : first) {
      if (i != 0 && (least == 0 || i < least)) least = i;
    }
  }
  __syncthreads();
  return least;  // valid in thread 0
}

template <class T>
__global__ void check_cholesky(Extent e, const T* y, int32_t* info) {
  for (int64_t b = blockIdx.x; b < e.batch; b += gridDim.x) {
    const T* matrix = y + b * e.rows * e.columns;
    const int32_t bad = first_bad(matrix, e.rows, e.columns, IsNotPositive());
    if (threadIdx.x == 0 && info[b] == 0) info[b] = bad;
  }
}

template <class T>
__global__ void check_lu(Extent e, const T* lu, int32_t* pivots, int32_t* info) {
  const int64_t K = e.rows < e.columns ? e.rows : e.columns;
  for (int64_t b = blockIdx.x; b < e.batch; b += gridDim.x) {
    const int32_t zero = first_bad(lu + b * e.rows * e.columns, K, e.columns, IsZero());
    if (threadIdx.x == 0) info[b] = zero;
    for (int64_t i = threadIdx.x; i < K; i += kThreads) {
      int32_t& pivot = pivots[b * K + i];
      if (pivot <= i || pivot > e.rows) pivot = static_cast<int32_t>(i + 1);
    }
  }
}

// One thread per column of a matrix, and at least one per matrix to check its pivots.
template <class T>
__global__ void swap_in_columns(Extent e, const int32_t* pivots, bool backwards, FaultSink faults,
                                T* y) {
  const int64_t N = e.rows, R = e.columns, threads = R > 0 ? R : 1;
  for (int64_t i = thread_index(); i < e.batch * threads; i += thread_count()) {
    const int64_t matrix = i / threads;
    T* column = y + matrix * N * R + i % threads;
    for (int64_t k = 0; k < N; ++k) {
      const int64_t row = backwards ? N - 1 - k : k, other = pivots[matrix * N + row];
      if (other < 1 || other > N) {
        faults.report(FaultKind::pivot, other, N);
      } else if (R > 0 && other != row + 1) {
        const T moved = column[row * R];
        column[row * R] = column[(other - 1) * R];
        column[(other - 1) * R] = moved;
      }
    }
  }
}

Grid block_for_each(int64_t batch) { return grid_for(batch * kThreads); }
const int32_t* data_of(const Tensor& marks) {
  return marks.defined() ? marks.data_ptr<int32_t>() : nullptr;
}

}  // namespace

void transpose_each(Tensor& y, const Tensor& x) {
  transpose(y.data_ptr(), x.data_ptr(), element_size(x.dtype()), x.size(0), x.size(1), x.size(2));
}

template <class T>
Addresses<T>::Addresses(T* first, int64_t step, int64_t batch)
    : workspace_(static_cast<size_t>(batch) * sizeof(T*)) {
  launch(write_addresses<T>, grid_for(batch), batch, first, step, data());
}
template class Addresses<float>;
template class Addresses<double>;

void mark_not_finite(Tensor& marks, const Tensor& x, Triangle part) {
  fill(marks, 0);
  if (x.numel() == 0) return;
  visit<dtypes::kFloating>(x.dtype(), [&]<class T>() {
    launch(mark_elements<T>, grid_for(x.numel()), Extent(x), part, x.data_ptr<T>(),
           marks.data_ptr<int32_t>());
  });
}

void set_identity(const Tensor& y, const Tensor& marks) {
  if (y.numel() == 0) return;
  visit<dtypes::kFloating>(y.dtype(), [&]<class T>() {
    launch(write_identity<T>, grid_for(y.numel()), Extent(y), data_of(marks), y.data_ptr<T>());
  });
}

void set_nan(Tensor& y, const Tensor& marks, Triangle part) {
  if (y.numel() == 0) return;
  visit<dtypes::kFloating>(y.dtype(), [&]<class T>() {
    launch(write_nan<T>, grid_for(y.numel()), Extent(y), part, data_of(marks), y.data_ptr<T>());
  });
}

void set_marked(Tensor& info, const Tensor& marks) {
  const int64_t batch = info.size(0);
  if (batch == 0) return;
  launch(write_info, grid_for(batch), batch, data_of(marks), info.data_ptr<int32_t>());
}

void copy_upper(Tensor& y, const Tensor& columns) {
  if (y.numel() == 0) return;
  visit<dtypes::kFloating>(y.dtype(), [&]<class T>() {
    launch(take_upper<T>, grid_for(y.numel()), Extent(y), columns.data_ptr<T>(), columns.size(2),
           columns.stride(0), y.data_ptr<T>());
  });
}

void finish_cholesky(Tensor& y, Tensor& info, bool upper) {
  if (y.numel() == 0) return;
  visit<dtypes::kFloating>(y.dtype(), [&]<class T>() {
    T* data = y.data_ptr<T>();
    launch(clear_but<T>, grid_for(y.numel()), Extent(y), upper ? Triangle::upper : Triangle::lower,
           data);
    launch(check_cholesky<T>, block_for_each(y.size(0)), Extent(y), data, info.data_ptr<int32_t>());
  });
}

void finish_lu(const Tensor& lu, Tensor& pivots, Tensor& info) {
  if (lu.numel() == 0) return;
  visit<dtypes::kFloating>(lu.dtype(), [&]<class T>() {
    launch(check_lu<T>, block_for_each(lu.size(0)), Extent(lu), lu.data_ptr<T>(),
           pivots.data_ptr<int32_t>(), info.data_ptr<int32_t>());
  });
}

void swap_rows(Tensor& y, const Tensor& pivots, bool backwards) {
  const Extent e(y);
  const int64_t threads = e.batch * std::max<int64_t>(e.columns, 1);
  if (threads == 0) return;
  const FaultSink faults = Call::stream().gpu.faults().sink(Call::op());
  visit<dtypes::kFloating>(y.dtype(), [&]<class T>() {
    launch(swap_in_columns<T>, grid_for(threads), e, pivots.data_ptr<int32_t>(), backwards, faults,
           y.data_ptr<T>());
  });
}

}  // namespace ambit::cuda
