// Functions of libtorch's compilers: those in place as functions of a copy, `torch::uniform(x)`,
// and with a given output, `torch::uniform_out(out, x)`; creation like a tensor in a given output,
// `torch::zeros_like_out(out, x)`.
#pragma once

#include <ambit/ops/creation.h>
#include <ambit/ops/out.h>
#include <ambit/ops/random.h>
#include <ambit/ops/shape.h>
#include <torch/namespaces.h>

#include <utility>

namespace at {

#define AMBIT_TORCH_COPIED(name)                                                           \
  template <class... A>                                                                    \
  requires requires(ambit::Tensor & t, A && ... a) { t.name##_(std::forward<A>(a)...); }   \
  ambit::Tensor name(const ambit::Tensor& self, A&&... a) {                                \
    ambit::Tensor out = self.clone();                                                      \
    out.name##_(std::forward<A>(a)...);                                                    \
    return out;                                                                            \
  }                                                                                        \
  template <class... A>                                                                    \
  requires requires(ambit::Tensor & t, A && ... a) { t.name##_(std::forward<A>(a)...); }   \
  ambit::Tensor& name##_out(ambit::Tensor& out, const ambit::Tensor& self, A&&... a) {     \
    return ambit::detail::Out(#name "_out", out) << at::name(self, std::forward<A>(a)...); \
  }
AMBIT_TORCH_COPIED(cauchy)
AMBIT_TORCH_COPIED(copy)
AMBIT_TORCH_COPIED(exponential)
AMBIT_TORCH_COPIED(geometric)
AMBIT_TORCH_COPIED(log_normal)
AMBIT_TORCH_COPIED(random)
AMBIT_TORCH_COPIED(resize)
AMBIT_TORCH_COPIED(resize_as)
AMBIT_TORCH_COPIED(set)
AMBIT_TORCH_COPIED(uniform)
#undef AMBIT_TORCH_COPIED

template <class... A>
requires requires(ambit::Tensor& t, A&&... a) { t.normal_(std::forward<A>(a)...); }
ambit::Tensor normal_functional(const ambit::Tensor& self, A&&... a) {
  ambit::Tensor out = self.clone();
  out.normal_(std::forward<A>(a)...);
  return out;
}
inline ambit::Tensor lift(const ambit::Tensor& self) { return self; }
inline ambit::Tensor lift_fresh(const ambit::Tensor& self) { return self; }
inline ambit::Tensor& lift_out(ambit::Tensor& out, const ambit::Tensor& self) {
  return ambit::detail::Out("lift_out", out) << self;
}
inline ambit::Tensor& zero_out(ambit::Tensor& out, const ambit::Tensor& self) {
  return ambit::zeros_out(out, self.sizes());
}

// The output's dtype and device decide; a memory format is ignored.
using OutFormat = std::optional<ambit::MemoryFormat>;
using OutGenerator = std::optional<ambit::Generator>;
#define AMBIT_TORCH_LIKE(name, made)                                                   \
  inline ambit::Tensor& name##_like_out(ambit::Tensor& out, const ambit::Tensor& self, \
                                        OutFormat = {}) {                              \
    return made(out, self.sizes());                                                    \
  }
AMBIT_TORCH_LIKE(empty, ambit::empty_out)
AMBIT_TORCH_LIKE(zeros, ambit::zeros_out)
AMBIT_TORCH_LIKE(ones, ambit::ones_out)
AMBIT_TORCH_LIKE(rand, ambit::rand_out)
AMBIT_TORCH_LIKE(randn, ambit::randn_out)
#undef AMBIT_TORCH_LIKE
inline ambit::Tensor& full_like_out(ambit::Tensor& out, const ambit::Tensor& self,
                                    const ambit::Scalar& fill_value, OutFormat = {}) {
  return ambit::full_out(out, self.sizes(), fill_value);
}
inline ambit::Tensor& rand_like_out(ambit::Tensor& out, const ambit::Tensor& self,
                                    const OutGenerator& generator, OutFormat = {}) {
  return ambit::rand_out(out, self.sizes(), generator);
}
inline ambit::Tensor& randn_like_out(ambit::Tensor& out, const ambit::Tensor& self,
                                     const OutGenerator& generator, OutFormat = {}) {
  return ambit::randn_out(out, self.sizes(), generator);
}
inline ambit::Tensor& randint_like_out(ambit::Tensor& out, const ambit::Tensor& self, int64_t high,
                                       OutFormat = {}) {
  return ambit::randint_out(out, high, self.sizes());
}
inline ambit::Tensor& randint_like_out(ambit::Tensor& out, const ambit::Tensor& self, int64_t high,
                                       const OutGenerator& generator, OutFormat = {}) {
  return ambit::randint_out(out, high, self.sizes(), generator);
}
inline ambit::Tensor& randint_like_out(ambit::Tensor& out, const ambit::Tensor& self, int64_t low,
                                       int64_t high, OutFormat = {}) {
  return ambit::randint_out(out, low, high, self.sizes());
}
inline ambit::Tensor& randint_like_out(ambit::Tensor& out, const ambit::Tensor& self, int64_t low,
                                       int64_t high, const OutGenerator& generator,
                                       OutFormat = {}) {
  return ambit::randint_out(out, low, high, self.sizes(), generator);
}
inline ambit::Tensor& randint_like_out(ambit::Tensor& out, const ambit::Tensor& self,
                                       const ambit::Tensor& high, OutFormat = {}) {
  return ambit::detail::Out("randint_like_out", out)
         << ambit::randint_like(self, high, out.options());
}
inline ambit::Tensor& randint_like_out(ambit::Tensor& out, const ambit::Tensor& self,
                                       const ambit::Tensor& high, const OutGenerator& generator,
                                       OutFormat = {}) {
  return ambit::detail::Out("randint_like_out", out)
         << ambit::randint_like(self, high, generator, out.options());
}
#define AMBIT_TORCH_NEW(name)                                                              \
  template <class... A>                                                                    \
  auto new_##name##_out(ambit::Tensor& out, const ambit::Tensor&, ambit::IntArrayRef size, \
                        A&&... a)                                                          \
      ->decltype(ambit::name##_out(out, size, std::forward<A>(a)...)) {                    \
    return ambit::name##_out(out, size, std::forward<A>(a)...);                            \
  }
AMBIT_TORCH_NEW(empty)
AMBIT_TORCH_NEW(empty_strided)
AMBIT_TORCH_NEW(full)
AMBIT_TORCH_NEW(ones)
AMBIT_TORCH_NEW(zeros)
#undef AMBIT_TORCH_NEW

}  // namespace at
