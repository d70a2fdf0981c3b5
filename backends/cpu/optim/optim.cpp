// Fused optimizer steps: one pass over all parameters, in which each element is read and written
// once. Threads share the elements of the whole list, whatever the sizes of its tensors.
#include "backends/cpu/runtime/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/optim/optim.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <ambit/backend/optim_rule.h>

#include <array>
#include <atomic>
#include <type_traits>
#include <utility>

#include "backends/cpu/kernels.h"
#include "backends/cpu/runtime/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace ambit::cpu::HWY_NAMESPACE {
namespace {

/// Update n elements of each list; all lists are written except the last one, the gradients.
template <class T, class Rule, size_t... K>
void update(int64_t n, const std::array<T*, sizeof...(K)> x, const Rule& rule,
            std::index_sequence<K...>) {
  for (int64_t i = 0; i < n; ++i) {
    T values[] = {x[K][i]...};
    rule(values);
    ((K + 1 < sizeof...(K) ? void(x[K][i] = values[K]) : void()), ...);
  }
}

/// Bytes read and written that are worth a second thread: about 7 us. It is lower than for other
/// loops, because each thread finds its part of the parameters in its own cache.
constexpr int64_t kGrainBytes = int64_t{768} << 10;

/// Call update(i, offset, n) for pieces of the tensors of a list, on several threads if they are
/// large; `bytes` are read and written per element.
template <class F>
void for_pieces(TensorList list, size_t bytes, const F& update) {
  int64_t total = 0;
  for (const Tensor& t : list) total += t.numel();
  parallel_for(total, kGrainBytes / static_cast<int64_t>(bytes), [&](int64_t begin, int64_t end) {
    int64_t first = 0;  // position of the tensor's first element among those of all
    for (size_t i = 0; first < end; first += list[i++].numel()) {
      const int64_t from = std::max(begin - first, int64_t{0});
      const int64_t to = std::min(end - first, list[i].numel());
      if (from < to) update(i, from, to - from);
    }
  });
}

template <class T, class Rule>
void update_all(const std::array<TensorList, Rule::kLists>& lists, const Rule& rule) {
  constexpr size_t N = Rule::kLists;
  for_pieces(lists[0], (2 * N - 1) * sizeof(T), [&](size_t i, int64_t from, int64_t n) {
    std::array<T*, N> x;
    for (size_t k = 0; k < N; ++k) x[k] = lists[k][i].template data_ptr<T>() + from;
    update(n, x, rule, std::make_index_sequence<N>());
  });
}

void sgd_any(TensorList p, TensorList buf, TensorList g, const SgdParams& params) {
  visit<dtypes::kFloating>(p[0].dtype(), [&]<class T>() {
    if (buf.empty()) return update_all<T>({p, g}, PlainSgd<T>(params));
    update_all<T>({p, buf, g}, MomentumSgd<T>(params));
  });
}

void adam_any(TensorList p, TensorList m, TensorList v, TensorList t, TensorList g,
              const AdamParams& params) {
  visit<dtypes::kFloating>(p[0].dtype(), [&]<class T>() {
    AdamRule<T> rule(params);
    if (t.empty()) return update_all<T>({p, m, v, g}, rule);
    for (size_t i = 0; i < p.size(); ++i) {
      const auto one = [i](TensorList list) { return TensorList(&list[i], 1); };
      rule.correct(params, 1 + double{*t[i].data_ptr<float>()});
      update_all<T>({one(p), one(m), one(v), one(g)}, rule);
    }
  });
}

void unscale_any(TensorList g, Tensor& found, double factor) {
  std::atomic<bool> is_found = false;  // relaxed stores: it is read after the threads have finished
  visit<dtypes::kFloating>(g[0].dtype(), [&]<class T>() {
    const Unscale<T> rule(factor);
    for_pieces(g, 2 * sizeof(T), [&](size_t i, int64_t from, int64_t n) {
      T* const x = g[i].data_ptr<T>() + from;
      std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t> infinite = 0;
      for (int64_t k = 0; k < n; ++k) infinite |= rule(x[k]) ? 0U : 1U;
      if (infinite != 0) is_found.store(true, std::memory_order_relaxed);
    });
  });
  if (is_found) *found.data_ptr<float>() = 1;
}

}  // namespace
}  // namespace ambit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ambit::cpu {

HWY_EXPORT(sgd_any);
HWY_EXPORT(adam_any);
HWY_EXPORT(unscale_any);

void sgd_step(TensorList p, TensorList buf, TensorList g, const SgdParams& params) {
  HWY_DYNAMIC_DISPATCH(sgd_any)(p, buf, g, params);
}

void adam_step(TensorList p, TensorList m, TensorList v, TensorList t, TensorList g,
               const AdamParams& params) {
  HWY_DYNAMIC_DISPATCH(adam_any)(p, m, v, t, g, params);
}

void unscale(TensorList g, Tensor& found, double factor) {
  HWY_DYNAMIC_DISPATCH(unscale_any)(g, found, factor);
}

}  // namespace ambit::cpu
#endif
