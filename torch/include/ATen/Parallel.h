// at::parallel_for and at::parallel_reduce: host loops in chunks, on as many threads as kernels
// use.
#pragma once

#include <ambit/autograd.h>
#include <ambit/parallel.h>
#include <torch/namespaces.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace at {
namespace detail {

inline constinit thread_local int thread_number = 0;
inline constinit thread_local bool in_parallel = false;

/// Call f(chunk, begin, end) for each of `chunks` parts of the range in parallel, one thread each,
/// the first on the caller's. When all have ended, throws the exception of the first chunk that
/// failed.
template <class F>
void run_chunks(int64_t begin, int64_t end, int64_t chunks, const F& f) {
  const bool grad_mode = ambit::GradMode::is_enabled();
  std::vector<std::exception_ptr> errors(static_cast<size_t>(chunks));
  const auto run = [&](int64_t chunk) noexcept {
    const ambit::AutoGradMode mode(grad_mode);
    const ambit::SingleThreadGuard alone;
    const auto before = std::make_pair(thread_number, in_parallel);
    thread_number = static_cast<int>(chunk);
    in_parallel = true;
    try {
      const int64_t size = (end - begin + chunks - 1) / chunks, first = begin + chunk * size;
      if (first < end) f(chunk, first, std::min(end, first + size));
    } catch (...) {
      errors[static_cast<size_t>(chunk)] = std::current_exception();
    }
    std::tie(thread_number, in_parallel) = before;
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(static_cast<size_t>(chunks));
    for (int64_t chunk = 1; chunk < chunks; ++chunk) threads.emplace_back(run, chunk);
    run(0);
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

inline int64_t chunks_of(int64_t begin, int64_t end, int64_t grain_size) {
  if (in_parallel || end - begin <= std::max<int64_t>(grain_size, 1)) return 1;
  const int64_t most = (end - begin) / std::max<int64_t>(grain_size, 1);
  return std::clamp<int64_t>(ambit::get_num_threads(), 1, std::max<int64_t>(most, 1));
}

}  // namespace detail

inline int get_thread_num() { return detail::thread_number; }
inline bool in_parallel_region() { return detail::in_parallel; }
inline void init_num_threads() {}

/// Run `work` asynchronously in a new thread; there is no pool of such threads.
inline void launch(std::function<void()> work) { std::thread(std::move(work)).detach(); }
inline int get_num_interop_threads() { return 1; }
/// Do nothing: there is no inter-op pool.
inline void set_num_interop_threads(int /*threads*/) {}

/// Call f(first, end) in parallel for parts of the range with at least grain_size elements, or for
/// all of it.
template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain_size, const F& f) {
  if (begin >= end) return;
  detail::run_chunks(begin, end, detail::chunks_of(begin, end, grain_size),
                     [&](int64_t, int64_t first, int64_t last) { f(first, last); });
}

/// Combine the results of f(first, end, identity) over these parts, from the left.
template <class T, class F, class Combine>
T parallel_reduce(int64_t begin, int64_t end, int64_t grain_size, T identity, const F& f,
                  const Combine& combine) {
  if (begin >= end) return identity;
  const int64_t chunks = detail::chunks_of(begin, end, grain_size);
  std::vector<T> parts(static_cast<size_t>(chunks), identity);
  detail::run_chunks(begin, end, chunks, [&](int64_t chunk, int64_t first, int64_t last) {
    parts[static_cast<size_t>(chunk)] = f(first, last, identity);
  });
  T all = identity;
  for (T& part : parts) all = combine(all, part);
  return all;
}

}  // namespace at
