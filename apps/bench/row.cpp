#include "row.h"

#include <ambit/parallel.h>

namespace bench {

Specification specification_of(const Row& row, const Inputs& inputs) {
  Specification s{row.name(), row.what, {}, row.parameters, ambit::get_num_threads()};
  for (const Input& input : inputs) {
    Operand operand{input.name, input.value.sizes().vec()};
    if (input.value.dtype() == ambit::kInt64) {
      operand.labels = input.value.data_ptr<int64_t>();
    } else {
      operand.values = input.value.data_ptr<float>();
    }
    operand.requires_grad = input.requires_grad;
    s.operands.push_back(std::move(operand));
  }
  return s;
}

}  // namespace bench
