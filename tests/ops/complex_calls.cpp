// Rows with functions of complex numbers for the tables of calls that tests run.
#include <ambit/ambit.h>

#include <vector>

#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;

namespace {

Tensor d23() { return ones({2, 3}, kFloat64); }

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  return {
      SHAPE(complex, d23(), d23().t()),
      DTYPE(complex, i23(), i23()),
      DTYPE(complex, ones({2, 3}, kFloat32), d23()),
      DEVICE(complex, m23(), there()),
      VALUE(complex, none(), m23()),
      SHAPE(polar, d23(), d23().t()),
      DTYPE(polar, i23(), i23()),
      DEVICE(polar, m23(), there()),
      VALUE(polar, m23(), none()),
      DTYPE(view_as_real, m23()),
      VALUE(view_as_real, none()),
      SHAPE(view_as_complex, d23()),
      DTYPE(view_as_complex, i23()),
      VALUE(view_as_complex, none()),
      DTYPE(imag, m23()),
      VALUE(imag, none()),
      VALUE(conj, none()),
      VALUE(conj_physical, none()),
      VALUE(conj_physical_, none()),
      VALUE(resolve_conj, none()),
      VALUE(resolve_neg, none()),
      VALUE(sgn, none()),
      VALUE(sgn_, none()),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

// Return t in a dtype that parts of complex numbers can have.
Tensor wide(const Tensor& t) { return is_reduced_floating(t.dtype()) ? t.to(kFloat32) : t; }

Tensor number(const agreement::Operands& o) {
  const profiler::RecordFunction scope(agreement::kOperand);
  return complex(wide(o.a), wide(o.b));
}

Tensor pairs(const agreement::Operands& o, const Tensor& z) {
  const profiler::RecordFunction scope(agreement::kOperand);
  return view_as_real(z).to(o.a.dtype());
}

Tensor both(const agreement::Operands& o) {
  const profiler::RecordFunction scope(agreement::kOperand);
  return view_as_real(complex(wide(o.a), wide(o.b)));
}

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
  return {
      RESULT(complex, pairs(o, complex(wide(o.a), wide(o.b)))),
      RESULT(polar, pairs(o, polar(wide(o.unit), wide(o.b)))),
      RESULT(view_as_real, view_as_real(number(o)).to(o.a.dtype())),
      RESULT(view_as_complex, pairs(o, view_as_complex(both(o)))),
      RESULT(imag, imag(number(o)).to(o.a.dtype())),
      RESULT(conj, pairs(o, conj(number(o)))),
      RESULT(conj_physical, pairs(o, conj_physical(number(o)))),
      RESULT(conj_physical_, pairs(o, conj_physical_(number(o)))),
      RESULT(resolve_conj, pairs(o, resolve_conj(number(o)))),
      RESULT(resolve_neg, pairs(o, resolve_neg(number(o)))),
      RESULT(sgn, sgn(o.a)),
      IN_PLACE(sgn_, o.a),
  };
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
  const auto f = [] { return ones({2, 2}); };
  return {
      CALL(complex, elementwise, given(f(), f()), t[0], t[1]),
      CALL(polar, elementwise, given(f(), f()), t[0], t[1]),
  };
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

}  // namespace
