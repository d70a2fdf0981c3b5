// Shared by the emulations of cuBLAS and cuSOLVER: column-major matrices in GPU memory, and
// single-threaded LAPACK for the computation.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "backends/cpu/runtime/lapack.h"
#include "backends/cpu/runtime/one_thread.h"
#include "faults.h"
#include "operand.h"
#include "tests/cuda/host/queue.h"

namespace ambit::cuda::host {

/// A matrix [rows,columns] with leading dimension `ld`.
template <class T>
struct Columns {
  T* data;
  int64_t rows, columns, ld;

  Operand operand() const {
    const Element element = sizeof(T) == sizeof(double) ? Element::float64 : Element::float32;
    return {const_cast<std::remove_const_t<T>*>(data), element, {columns, rows}, {ld, 1}};
  }
  std::vector<std::remove_const_t<T>> read() const {
    return load<std::remove_const_t<T>>(operand());
  }
  void write(const std::vector<T>& values) const { store(operand(), values); }
  bool is_valid() const {
    return data && rows >= 0 && columns >= 0 && ld >= std::max<int64_t>(rows, 1);
  }
};

template <class T>
const cpu::LapackOf<T>& lapack_of() {
  const cpu::LapackUse library;
  if (!library) misuse("expected LAPACK for the emulation, got " + cpu::lapack_name());
  return library->of<T>();
}

template <class T>
bool is_finite(const std::vector<T>& values) {
  return std::all_of(values.begin(), values.end(), [](T x) { return std::isfinite(x); });
}

inline void write_info(int* info, int value) {
  check_write(info, sizeof(int));
  *info = value;
}

/// LU factorisation in place. For NaN and inf the real library does not specify the pivots; the
/// emulation returns invalid pivots, 0, as the worst case.
template <class T>
void factor_lu(const Columns<T>& a, int* pivots, int* info) {
  std::vector<T> values = a.read();
  const auto m = static_cast<int32_t>(a.rows), n = static_cast<int32_t>(a.columns);
  std::vector<int32_t> rows(static_cast<size_t>(std::min(m, n)), 0);
  int32_t status = 1;
  if (is_finite(values)) {
    lapack_of<T>().getrf(&m, &n, values.data(), &m, rows.data(), &status);
  } else {
    std::fill(values.begin(), values.end(), std::numeric_limits<T>::quiet_NaN());
  }
  a.write(values);
  check_write(pivots, rows.size() * sizeof(int));
  std::copy(rows.begin(), rows.end(), pivots);
  write_info(info, status);
}

/// Return the pointers of a batched call, read when the work runs.
template <class T>
std::vector<T*> read_addresses(T* const* array, int batch) {
  check_read(array, static_cast<size_t>(batch) * sizeof(T*));
  return {array, array + batch};
}

}  // namespace ambit::cuda::host
