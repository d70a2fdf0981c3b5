// ONNX's own tests of its operators: each gives the expected outputs or is refused before it runs,
// and the same outputs after it is written and loaded again.
#include <ambit/autograd.h>
#include <ambit/error.h>
#include <ambit/finfo.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>

#include <iostream>
#include <map>

#include "onnx_files.h"

using namespace ambit;

namespace {

struct Outcome {
  bool passes = false;
  bool is_refused = false;  // by load(), which lists missing functions
  std::string text{};
};

std::string difference(const Tensor& got, const Tensor& expected, double rtol, double atol) {
  if (!got.defined()) return "an undefined tensor";
  if (got.dtype() != expected.dtype()) return std::string("dtype ") + name(got.dtype());
  if (got.sizes() != expected.sizes()) return "sizes " + str(got.sizes());
  const Tensor a = got.detach().to(kFloat64), b = expected.to(kFloat64);
  if (allclose(a, b, rtol, atol, true)) return "";
  return "values, by up to " + std::to_string((a - b).abs().max().item<double>());
}

// Save the loaded model, load the copy, and compare their outputs.
std::string difference_of_copy(const graph::Graph& net, const std::vector<Tensor>& inputs,
                               const std::vector<Tensor>& outputs) {
  static const TemporaryFolder folder;
  const std::string file = folder / "copy.onnx";
  graph::save(net, file);
  const graph::Graph copy = graph::load(file);
  if (copy->text() != net->text()) return "the copy has other calls";
  const std::vector<Tensor> got = copy->forward(inputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string text = difference(got[i], outputs[i], 0, 0);
    if (!text.empty()) return "output " + std::to_string(i) + " of the copy: " + text;
  }
  return "";
}

Outcome run_test(const std::filesystem::path& file) {
  std::map<std::string, Tensor> data;
  for (const auto& [name, t] :
       load(std::filesystem::path(file).replace_extension(".safetensors").string())) {
    data.emplace(name, t);
  }
  const auto list = [&](const std::string& kind) {
    std::vector<Tensor> out;
    while (data.contains(kind + std::to_string(out.size()))) {
      out.push_back(data[kind + std::to_string(out.size())]);
    }
    return out;
  };
  try {
    const graph::Graph net = graph::load(file.string());
    try {
      const NoGradGuard no_grad;
      const std::vector<Tensor> got = net->forward(list("in")), expected = list("out");
      if (got.size() != expected.size()) return {false, false, "a different number of outputs"};
      // The tolerances of ONNX's own runner, except for two groups. The expected values of
      // attention in float16 and bfloat16 are rounded after each of its steps, so the tolerance is
      // two units in the last place. The input of an inverse transform, of up to 100, is rounded,
      // so results of 0 have an error of 100 * 2^-24.
      const std::string test = file.stem().string();
      const double atol = test.starts_with("test_dft_inverse") ? 1e-5 : data["atol"].item<double>();
      for (size_t i = 0; i < got.size(); ++i) {
        const DType dtype = expected[i].dtype();
        const bool rounds = test.starts_with("test_attention") && is_reduced_floating(dtype);
        const double rtol = rounds ? 2 * finfo(dtype).eps : data["rtol"].item<double>();
        const std::string text = difference(got[i], expected[i], rtol, atol);
        if (!text.empty()) return {false, false, "output " + std::to_string(i) + ": " + text};
      }
      const std::string copied = difference_of_copy(net, list("in"), got);
      return {copied.empty(), false, copied};
    } catch (const Error& e) {
      return {false, false, std::string("error: ") + e.what()};
    }
  } catch (const NotImplementedError& e) {
    return {false, true, e.what()};
  } catch (const Error& e) {
    return {false, false, std::string("load: ") + e.what()};
  }
}

}  // namespace

TEST_CASE("ONNX's tests of single operators") {
  static const TemporaryFolder folder;
  REQUIRE(succeeds("tar -xJf '" AMBIT_ONNX_NODES "' -C '" + folder.path().string() + "'"));
  size_t passed = 0, refused = 0;
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    if (file.path().extension() == ".onnx") files.push_back(file.path());
  }
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    const Outcome outcome = run_test(file);
    passed += outcome.passes;
    refused += outcome.is_refused;
    if (std::getenv("AMBIT_ONNX_LIST") && !outcome.passes) {
      std::cout << file.stem().string() << ": " << outcome.text << '\n';
    }
    const bool is_right = outcome.passes || outcome.is_refused;
    INFO(file.stem().string(), ": ", outcome.text);
    CHECK(is_right);
  }
  MESSAGE(passed, " of ", files.size(), " pass, ", refused, " are refused by load()");
  CHECK(passed >= 1321);
}
