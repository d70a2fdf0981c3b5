// Rows of the tables for quantiles, histograms, windows and reflections: bad calls, mixed devices,
// agreement.
#include <ambit/ambit.h>

#include <cmath>

#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;

namespace {

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
#define Q2 ones({2}, kFloat32)
  return {
      VALUE(quantile, m23(), 1.5),
      VALUE(quantile, m23(), NAN),
      VALUE(quantile, m23(), Q2 * 2),
      VALUE(quantile, m23(), 0.5, 0, false, "cubic"),
      VALUE(quantile, zeros({0, 3}), 0.5, 1),
      VALUE(quantile, none(), 0.5),
      SHAPE(quantile, m23(), m23()),
      DTYPE(quantile, i23(), 0.5),
      DTYPE(quantile, m23(), Q2.to(kFloat64)),
      INDEX(quantile, m23(), 0.5, 2),
      DEVICE(quantile, there(), Q2),
      VALUE(nanquantile, m23(), -0.5),
      VALUE(nanquantile, none(), Q2),
      DTYPE(nanquantile, b23(), 0.5),
      VALUE(histogram, m23(), 0),
      VALUE(histogram, m23(), 2, std::vector<double>{3, 1}),
      VALUE(histogram, m23(), 2, std::vector<double>{3}),
      VALUE(histogram, m23() / 0, 2),
      VALUE(histogram, m23(), ones({1})),
      VALUE(histogram, none(), 2),
      SHAPE(histogram, m23(), m23()),
      SHAPE(histogram, m23(), 2, std::optional<std::vector<double>>(), ones({2})),
      DTYPE(histogram, i23(), 2),
      DTYPE(histogram, m23(), ones({3}, kFloat64)),
      DTYPE(histogram, m23(), ones({3}), i23()),
      DEVICE(histogram, there(), ones({3})),
      VALUE(histogramdd, none(), 2),
      VALUE(histogramdd, m23(), 0),
      VALUE(histogramdd, m23(), {2, 2}),
      VALUE(histogramdd, m23(), 2, std::vector<double>{0, 1}),
      VALUE(histogramdd, m23(), {2, 2, 2}, std::vector<double>{0, 1, 3, 1, 0, 1}),
      VALUE(histogramdd, m23(), std::vector<Tensor>{ones({3}), ones({3}), ones({1})}),
      SHAPE(histogramdd, ones({3}), 2),
      SHAPE(histogramdd, m23(), 2, std::optional<std::vector<double>>(), ones({3})),
      DTYPE(histogramdd, i23(), 2),
      DTYPE(histogramdd, m23(), std::vector<Tensor>(3, ones({3}, kFloat64))),
      DEVICE(histogramdd, there(), std::vector<Tensor>(3, ones({3}))),
      VALUE(isin, none(), 2),
      VALUE(isin, m23(), none()),
      VALUE(isin, 2, none()),
      DEVICE(isin, m23(), there()),
      SHAPE(igamma, m23(), m45()),
      DTYPE(igamma, i23(), i23()),
      DEVICE(igamma, m23(), there()),
      VALUE(igamma, none(), m23()),
      SHAPE(igamma_, m23(), m45()),
      SHAPE(igamma_, ones({3}), m23()),
      DTYPE(igamma_, i23(), m23()),
      VALUE(igamma_, m23(), none()),
      SHAPE(igammac, m23(), m45()),
      DTYPE(igammac, b23(), b23()),
      VALUE(igammac, m23(), none()),
      SHAPE(igammac_, m23(), m45()),
      DTYPE(igammac_, i23(), m23()),
      VALUE(igammac_, none(), m23()),
      DTYPE(frexp, i23()),
      VALUE(frexp, none()),
      SHAPE(geqrf, ones({3})),
      DTYPE(geqrf, i23()),
      VALUE(geqrf, none()),
      SHAPE(linalg_householder_product, m23(), ones({2})),
      SHAPE(linalg_householder_product, ones({3, 2}), ones({3})),
      SHAPE(linalg_householder_product, ones({3, 2}), ones({1, 2})),
      DTYPE(linalg_householder_product, ones({3, 2}), ones({2}, kFloat64)),
      VALUE(linalg_householder_product, ones({3, 2}), none()),
      SHAPE(orgqr, m23(), ones({2})),
      DTYPE(orgqr, i23(), ones({2})),
      VALUE(orgqr, none(), ones({2})),
      SHAPE(ormqr, ones({3, 2}), ones({2}), m23()),
      SHAPE(ormqr, ones({3, 2}), ones({2}), ones({3, 3, 2})),
      SHAPE(ormqr, ones({3, 2}), ones({2}), ones({2, 2}), false),
      DTYPE(ormqr, ones({3, 2}), ones({2}), ones({3, 2}, kFloat64)),
      VALUE(ormqr, ones({3, 2}), ones({2}), none()),
      VALUE(bartlett_window, -1),
      DTYPE(bartlett_window, 4, kInt64),
      VALUE(blackman_window, -1, false),
      DTYPE(blackman_window, 4, kInt64),
      VALUE(hann_window, -1),
      DTYPE(hann_window, 4, true, kInt64),
      VALUE(hamming_window, -1, true, 0.5),
      DTYPE(hamming_window, 4, kBool),
      VALUE(kaiser_window, -1, true, 3.0),
      DTYPE(kaiser_window, 4, kInt64),
      SHAPE(masked_fill, m23(), b23(), ones({1})),
      SHAPE(masked_fill, m23(), m45() > 0, ones({})),
      DTYPE(masked_fill, m23(), i23(), ones({})),
      VALUE(masked_fill, m23(), b23(), none()),
      SHAPE(masked_fill_, m23(), b23(), ones({1})),
      SHAPE(masked_fill_, ones({3}), b23(), ones({})),
      VALUE(masked_fill_, none(), b23(), ones({})),
      SHAPE(fill_, m23(), ones({1})),
      VALUE(fill_, m23(), none()),
  };
#undef Q2
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
  return {
      BOTH(quantile, strict, given(f(), f({2})), t[1]),
      BOTH(nanquantile, strict, given(f(), f({2})), t[1]),
      BOTH(histogram, strict, given(f(), f({3}), f()), t[1], t[2]),
      BOTH(histogram, strict, given(f(), f()), 2, std::optional<std::vector<double>>(), t[1]),
      named(CALL(histogramdd, strict, given(f(), f({2}), f({2}), f({2})), t[0],
                 std::vector<Tensor>{t[1], t[2]}, std::optional<std::vector<double>>(), t[3]),
            list("self", "bins[0]", "bins[1]", "weight")),
      CALL(histogramdd, strict, given(f(), f({2})), t[0], 2, std::optional<std::vector<double>>(),
           t[1]),
      CALL(histogramdd, strict, given(f(), f({2})), t[0], {2, 2},
           std::optional<std::vector<double>>(), t[1]),
      CALL(isin, strict, given(f(), f()), t[0], t[1]),
      BOTH(igamma, elementwise, given(f(), f()), t[1]),
      BOTH(igamma_, in_place_elementwise, given(f(), f()), t[1]),
      BOTH(igammac, elementwise, given(f(), f()), t[1]),
      BOTH(igammac_, in_place_elementwise, given(f(), f()), t[1]),
      CALL(linalg_householder_product, strict, given(f(), f({2})), t[0], t[1]),
      reported_as(Call{"householder_product", Rule::strict, given(f(), f({2})),
                       [](const Tensors& t) {
                         static_cast<void>(linalg::householder_product(t[0], t[1]));
                       }},
                  "linalg_householder_product"),
      BOTH(orgqr, strict, given(f(), f({2})), t[1]),
      BOTH(ormqr, strict, given(f(), f({2}), f()), t[1], t[2]),
      BOTH(masked_fill, elementwise, given(f(), mask(), f({})), t[1], t[2]),
      BOTH(masked_fill_, in_place_elementwise, given(f(), mask(), f({})), t[1], t[2]),
  };
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
#define TALL MADE(cat({o.unit.t(), o.a.t(), o.unit.t()}, 0))
#define BOTH_OF(...) std::get<0>(__VA_ARGS__), std::get<1>(__VA_ARGS__)
  return {
      not_empty(RESULT(quantile, quantile(o.a, 0.3), quantile(o.a, 0.8, 0, true, "midpoint"))),
      not_empty(RESULT(nanquantile, nanquantile(o.a, 0.3, -1))),
      RESULT(histogram, BOTH_OF(histogram(o.unit, 5, std::vector<double>{0, 1}, o.unit))),
      RESULT(histogramdd,
             std::get<0>(histogramdd(MADE(stack({o.unit.reshape({-1}), o.a.reshape({-1})}, -1)),
                                     {5, 4}, std::vector<double>{0, 1, -2, 2}))),
      RESULT(isin, isin(o.n, o.m), isin(o.n, 3, false, true)),
      RESULT(igamma, igamma(MADE(o.unit * 5), MADE(o.unit.abs() * 3)), igamma(o.unit, o.unit)),
      RESULT(igamma_, igamma_(MADE(o.unit.clone()), o.unit)),
      RESULT(igammac, igammac(MADE(o.unit * 5), MADE(o.unit.abs() * 3))),
      RESULT(igammac_, igammac_(MADE(o.unit.clone()), o.unit)),
      RESULT(frexp, BOTH_OF(frexp(o.a))),
      with_dims(RESULT(geqrf, BOTH_OF(geqrf(o.unit.narrow(1, 0, 2))))),
      with_dims(
          RESULT(linalg_householder_product,
                 linalg_householder_product(TALL, MADE(o.unit.narrow(1, 0, 1).t()[0] * 0.1)))),
      with_dims(RESULT(orgqr, orgqr(TALL, MADE(o.unit.narrow(1, 0, 1).t()[0] * 0.1)))),
      with_dims(RESULT(ormqr, ormqr(TALL, MADE(o.unit.narrow(1, 0, 1).t()[0] * 0.1), TALL))),
      RESULT(bartlett_window, bartlett_window(5, o.a.options())),
      RESULT(blackman_window, blackman_window(5, o.a.options())),
      RESULT(hann_window, hann_window(5, o.a.options())),
      RESULT(hamming_window, hamming_window(5, o.a.options())),
      RESULT(kaiser_window, kaiser_window(5, o.a.options())),
  };
#undef TALL
#undef BOTH_OF
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
