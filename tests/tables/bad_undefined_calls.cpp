// Functions with one tensor that refuse an undefined one, in addition to the other bad calls.
#include "bad_calls.h"

#include <cmath>

using namespace ambit;
using namespace bad_input;

namespace {

std::vector<BadCall> undefined_calls() {
  return {
      VALUE(randint_like, none(), 0, 2),
      VALUE(bernoulli, none()),
      VALUE(uniform_, none()),
      VALUE(normal_, none()),
      VALUE(random_, none(), 0, 2),
      VALUE(bernoulli_, none(), 0.5),
      VALUE(gelu, none()),
      VALUE(isnan, none()),
      VALUE(isinf, none()),
      VALUE(isfinite, none()),
      VALUE(clamp_, none(), 0),
      VALUE(add_, none(), 1),
      VALUE(mul, none(), 1),
      VALUE(eq, none(), 1),
      VALUE(eq_, none(), 1),
      VALUE(where, none(), 1, m23()),
      VALUE(where, b23(), 1, none()),
      VALUE(masked_fill, none(), b23(), 1),
      VALUE(masked_fill_, none(), b23(), 1),
      VALUE(copy_, m23(), none()),
      VALUE(result_type, none(), 1),
      VALUE(sum, none(), {0}),
      VALUE(mean, none()),
      VALUE(prod, none(), 0),
      VALUE(var, none()),
      bad<Error>("std", "std(none())", [] { ambit::std(none()); }),
      VALUE(max, none()),
      VALUE(max, none(), 0),
      VALUE(min, none()),
      VALUE(argmax, none()),
      VALUE(argmin, none(), 0),
      VALUE(any, none(), 0),
      VALUE(all, none(), 0),
      VALUE(norm, none()),
      VALUE(logsumexp, none(), {0}),
      VALUE(softmax, none(), 0),
      VALUE(log_softmax, none(), 0),
      VALUE(view, none(), {1}),
      VALUE(reshape, none(), {1}),
      VALUE(transpose, none(), 0, 1),
      VALUE(permute, none(), {0}),
      VALUE(t, none()),
      VALUE(squeeze, none(), 0),
      VALUE(unsqueeze, none(), 0),
      VALUE(expand, none(), {1}),
      VALUE(select, none(), 0, 0),
      VALUE(slice, none(), 0),
      VALUE(narrow, none(), 0, 0, 1),
      VALUE(flatten, none()),
      VALUE(as_strided, none(), {1}, {1}),
      VALUE(unbind, none()),
      VALUE(split, none(), 1),
      VALUE(split, none(), {1, 1}, 0),
      VALUE(chunk, none(), 1),
      VALUE(repeat, none(), {1}),
      VALUE(flip, none(), {0}),
      VALUE(max_pool2d, none(), PoolParams{}),
      VALUE(avg_pool2d, none(), PoolParams{}),
      VALUE(adaptive_avg_pool2d, none(), {1, 1}),
      VALUE(one_hot, none()),
  };
}

const CallTable<BadCall> kUndefined(undefined_calls);

}  // namespace
