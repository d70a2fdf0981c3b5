// Completeness of kernels; `ambit conformance` compares the kernels themselves (conformance/).
#include <ambit/backend/examples.h>
#include <ambit/backend/kernels.h>
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>

using namespace ambit;

TEST_CASE("the cpu and the reference have a kernel for every op") {
  for (const OpBase* op : all_ops()) {
    INFO(std::string(op->name()));
    CHECK(op->has_kernel(Device().kind()));
    CHECK(op->has_kernel(Device("reference").kind()));
  }
}

TEST_CASE("the list of kernels has each declaration of kernels.h, in its order") {
  std::ifstream in(AMBIT_KERNELS_HEADER);
  const std::string header{std::istreambuf_iterator<char>(in), {}};
  const std::regex declaration(R"(extern AMBIT_API\s+Op<void\([^()]*\)>\s+(\w+);)");
  std::vector<std::string> declared, listed;
  for (std::sregex_iterator m(header.begin(), header.end(), declaration), end; m != end; ++m) {
    declared.push_back((*m)[1]);
  }
  for (const OpBase* op : all_ops()) listed.push_back(op->name());
  CHECK(declared == listed);
  CHECK(std::tuple_size_v<std::remove_const_t<decltype(kernels::all)>> == listed.size());
}

TEST_CASE("every kernel has an example, for all its dtypes, which runs") {
  std::map<const OpBase*, DTypeSet> covered;
  for (const Example& example : examples()) {
    for (const DType dtype : example.dtypes) {
      INFO(std::string(example.op->name()), " ", example.function, " ", std::string(name(dtype)));
      std::vector<Tensor> operands = example.operands(dtype);
      CHECK(operands.at(0).dim() > 0);
      CHECK_NOTHROW(example.call(operands));
    }
    DTypeSet& all = covered[example.op];
    all = all | example.dtypes;
  }
  for (const OpBase* op : all_ops()) {
    INFO(std::string(op->name()));
    CHECK_MESSAGE(covered[op] == dtypes::with_reduced_floating(op->dtypes()),
                  "no example for some dtypes");
  }
}
