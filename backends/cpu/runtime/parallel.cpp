// OpenMP (libgomp, the runtime that oneDNN uses too) behind parallel.h.
#include "parallel.h"

#include <omp.h>

#include <exception>
#include <mutex>

namespace ambit::cpu {

int available_threads() { return omp_in_parallel() ? 1 : get_num_threads(); }

int count_pieces(int64_t n, int64_t grain) {
  return static_cast<int>(std::clamp<int64_t>(n / grain, 1, available_threads()));
}

void run_pieces(int64_t n, int pieces, void (*piece)(const void*, int64_t, int64_t),
                const void* context) {
  std::exception_ptr error;
  std::mutex mutex;
  // OpenMP may give fewer threads than asked, hence a loop over the pieces.
#pragma omp parallel for num_threads(pieces) schedule(static, 1)
  for (int i = 0; i < pieces; ++i) {
    try {
      piece(context, n * i / pieces, n * (i + 1) / pieces);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace ambit::cpu
