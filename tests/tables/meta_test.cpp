// Every public function on meta, which has no data: its results have the sizes, dtypes and strides
// that they have on the cpu, unless these depend on data.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "agreement_calls.h"
#include "agreement_operands.h"
#include "declared_functions.h"
#include "further_calls.h"

using namespace ambit;
using namespace agreement;

namespace {

// Functions that throw on meta in one of their rows: the result is a number, or the number of
// elements or of steps depends on data.
const std::set<std::string> kOfData{"_unique",
                                    "_unique2",
                                    "allclose",
                                    "argwhere",
                                    "bincount",
                                    "equal",
                                    "histc",
                                    "histogram",
                                    "histogramdd",
                                    "index",
                                    "index_put_",
                                    "linalg_matrix_exp",
                                    "masked_scatter",
                                    "masked_scatter_",
                                    "masked_select",
                                    "matrix_exp",
                                    "nonzero",
                                    "nonzero_numpy",
                                    "repeat_interleave",
                                    "unique_consecutive",
                                    "unique_dim",
                                    "unique_dim_consecutive"};
// Functions that refer to other memory.
const std::set<std::string> kOfMemory{"from_blob"};

// Further calls, whose sizes match the first layout.
std::vector<Call> calls_of(const InputLayout& layout) {
  std::vector<Call> all = CallTable<Call>::all();
  if (std::string(layout.name) != layouts()[0].name) return all;
  for (Call& call : further_calls()) all.push_back(std::move(call));
  return all;
}

}  // namespace

TEST_CASE("functions on meta have the sizes, dtypes and strides of the cpu") {
  std::set<std::string> refused, called;
  for (const InputLayout& layout : layouts()) {
    const Operands real = draw(layout, kCPU), shapes = draw(layout, kMeta);
    for (const Call& call : calls_of(layout)) {
      if (kOfMemory.contains(call.function)) continue;
      if ((real.is_empty && !call.takes_empty) || (real.is_scalar && !call.takes_scalar)) continue;
      INFO(std::string(call.function), ", ", std::string(layout.name));
      std::vector<Tensor> got;
      try {
        got = call.run(shapes);
      } catch (const NotImplementedError&) {
        refused.insert(call.function);
        continue;
      }
      called.insert(call.function);
      const std::vector<Tensor> want = call.run(real);
      REQUIRE(got.size() == want.size());
      for (size_t i = 0; i < got.size(); ++i) {
        INFO("result ", i);
        CHECK(got[i].sizes() == want[i].sizes());
        CHECK(got[i].dtype() == want[i].dtype());
        CHECK(got[i].strides() == want[i].strides());
      }
    }
  }
  for (const std::string& name : refused) {
    INFO("refused, not listed: ", name);
    CHECK(kOfData.contains(name));
  }
  for (const std::string& name : kOfData) {
    INFO("listed, not refused: ", name);
    CHECK(refused.contains(name));
  }
  for (const std::string& name : declared_functions()) {
    INFO("declared, but never called on meta: ", name);
    CHECK((called.contains(name) || refused.contains(name) || kOfMemory.contains(name)));
  }
}
