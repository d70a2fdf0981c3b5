// The language of libtorch programs: assignment, indexing, options, lists, checks.
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <c10/util/irange.h>

#include "parity.h"

using parity::report;
using parity::report_refusal;
using parity::report_text;
using parity::wave;
using torch::indexing::Ellipsis;
using torch::indexing::None;
using torch::indexing::Slice;

PARITY(assignment_to_an_rvalue_writes_through) {
  torch::Tensor x = wave({3, 4}), y = torch::zeros({3, 4});
  y[0] = x[1] * 5;
  y[1][2] = 7;
  y[2][3] = x[0][1];
  y.index({Slice(), 0}) = torch::ones({3});
  y.select(1, 1) = -1.5;
  report("y", y);
  y.index_put_({Slice(1, None), Slice(None, None, 2)}, 4);
  y.index_put_({torch::tensor({0, 2}), torch::tensor({1, 1})}, torch::tensor({8.f, 9.f}));
  report("put", y);
  torch::Tensor leaf = wave({3}).set_requires_grad(true), z = torch::zeros({2, 3});
  z[1] = leaf * leaf;
  z.sum().backward();
  report("gradient", leaf.grad());
  leaf.grad().data() = torch::ones({3});
  report("data", leaf.grad());
}

PARITY(indexing) {
  const torch::Tensor x = wave({4, 5, 6});
  report("integer", x[1][-1]);
  report("slice", x.index({Slice(1, 3), Slice(None, None, 2)}));
  report("negative", x.index({Slice(-3, None), 0}));
  report("ellipsis", x.index({Ellipsis, 2}));
  report("text", x.index({"...", Slice(None, 2)}));
  report("none", x.index({None, 1, None}));
  report("tensor", x.index({torch::tensor({3, 0, 0})}));
  report("tensors", x.index({torch::tensor({3, 0}), Slice(), torch::tensor({1, 1})}));
  report("mask", x.index({x > 0.5}));
  report("bool", x.index({true}));
  report("by tensor", x[torch::tensor(2)]);
  report("view", x.narrow(1, 1, 2).select(2, 0));
  report_refusal("beyond", [&] { x[4]; });
  report_refusal("too many", [&] { x.index({0, 0, 0, 0}); });
}

PARITY(factories) {
  const auto options = torch::TensorOptions()
                           .dtype(torch::kFloat64)
                           .layout(torch::kStrided)
                           .device(torch::kCPU)
                           .requires_grad(true);
  torch::Tensor t = torch::ones({2, 3}, options);
  report("options", t);
  report("requires grad", t.requires_grad());
  report("from dtype", torch::zeros({2}, torch::kLong));
  report("from device", torch::zeros({2}, at::kCPU));
  report("by parts", torch::full({2}, 3, torch::dtype(torch::kInt).device(torch::kCPU)));
  report("one size", torch::ones(3));
  report("arange", torch::arange(5));
  report("arange of floats", torch::arange(0, 1, 0.25));
  report("arange with dtype", torch::arange(0, 10, torch::kFloat));
  report("arange with step", torch::arange(10, 0, -3, torch::kShort));
  report("linspace", torch::linspace(-1, 1, 7));
  report("eye", torch::eye(3));
  report("wide eye", torch::eye(2, 3, torch::kInt));
  report("tensor", torch::tensor({{1.5, 2.}, {3., 4.}}));
  report("integers", torch::tensor({1, 2, 3}));
  report("bools", torch::tensor({true, false}));
  report("scalar", torch::tensor(3.5));
  report("of a vector", torch::tensor(std::vector<float>{1, 2}));
  report("as short", torch::tensor({1, 2}, torch::kShort));
  report("full", torch::full({2, 2}, 0.5));
  report("full of an integer", torch::full({2}, 7));
  report("like", torch::zeros_like(t));
  report("ones like", torch::ones_like(t, torch::kInt));
  report("full like", torch::full_like(t, 9));
  report("randperm", torch::randperm(5).sum());
  float data[] = {1, 2, 3, 4, 5, 6};
  int freed = 0;
  {
    torch::Tensor blob = torch::from_blob(data, {2, 3}, [&](void*) { ++freed; });
    report("blob", blob);
    report("strided blob", torch::from_blob(data, {3, 2}, {1, 3}, torch::kFloat));
  }
  report("freed", freed);
  report_refusal("negative size", [] { torch::ones({-1}); });
  report_refusal("ragged", [] { torch::tensor({{1, 2}, {3}}); });
  report_refusal("gradient of integers",
                 [] { torch::ones({2}, torch::TensorOptions(torch::kLong).requires_grad(true)); });
}

PARITY(numbers_and_lists) {
  const at::Scalar s(2.75);
  report("to", s.toInt() + s.toLong() + s.to<double>());
  report("kinds", 4 * s.isFloatingPoint() + 2 * s.isIntegral(true) + s.isBoolean());
  report("minus", (-s).toDouble());
  report_refusal("overflow", [] { at::Scalar(1e10).toInt(); });
  const torch::Tensor x = torch::zeros({2, 3, 4});
  const at::IntArrayRef sizes = x.sizes();
  report("slice", static_cast<double>(sizes.slice(1).size() + sizes.slice(0, 2).back()));
  report("vec", static_cast<double>(sizes.vec().size()));
  report("equals", sizes == at::IntArrayRef({2, 3, 4}));
  report_text("printed", c10::str(sizes, " ", 1.5, " ", x.numel()));
  int64_t sum = 0;
  for (const auto i : c10::irange(2, 5)) sum += i;
  for (const auto i : c10::irange(x.size(-1))) sum += i;
  report("irange", static_cast<double>(sum));
  torch::optional<int64_t> nothing = torch::nullopt, three = 3;
  report("optional", static_cast<double>(three.value() + nothing.value_or(5)));
  report("promotion", torch::ones({1}, torch::kInt).add(0.5));
  report("result type",
         static_cast<double>(torch::result_type(torch::ones({1}, torch::kInt),
                                                torch::ones({1}, torch::kFloat)) == torch::kFloat));
  report("bool sum", torch::ones({3}, torch::kBool).sum());
}

PARITY_OF_HOST(questions) {
  const torch::Tensor x = wave({2, 3}), i = torch::ones({2}, torch::kLong);
  report("element size", static_cast<double>(x.element_size() + i.itemsize()));
  report("kinds",
         8 * x.is_floating_point() + 4 * i.is_signed() + 2 * x.is_complex() + x.is_sparse());
  report("same size", x.is_same_size(torch::zeros({2, 3})));
  report("device", static_cast<double>(x.get_device()));
  report_text("type", x.toString() + i.toString());
  report("version", static_cast<double>([&] {
           const auto before = x._version();
           x.add_(0);
           return x._version() - before;
         }()));
  report("nonzero", torch::tensor(2).is_nonzero());
  report_refusal("nonzero of two", [&] { i.is_nonzero(); });
  report("contiguous", 2 * x.is_contiguous() + x.t().is_contiguous());
  report("strides", static_cast<double>(x.t().stride(0) * 10 + x.t().stride(-1)));
  const auto last = wave({2, 3, 4, 5}).contiguous(torch::MemoryFormat::ChannelsLast);
  report("channels last", static_cast<double>(last.stride(1) + 10 * last.stride(3)));
  report("is channels last", last.is_contiguous(torch::MemoryFormat::ChannelsLast));
  report("its values", last);
  auto a = x.accessor<float, 2>();
  double sum = 0;
  for (int64_t r = 0; r < a.size(0); ++r) {
    for (int64_t c = 0; c < a.size(1); ++c) sum += a[r][c] * static_cast<double>(a.stride(1));
  }
  report("accessor", sum);
  report_refusal("accessor of another dtype", [&] { x.accessor<double, 2>(); });
  report_refusal("accessor of another dim", [&] { x.accessor<float, 1>(); });
  auto p = x.packed_accessor32<float, 2>();
  report("packed", p[1][2]);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "questions",
                             [&] { report("dispatch", sizeof(scalar_t)); });
}

PARITY(devices) {
  const torch::Device cpu(torch::kCPU), named("cpu");
  report("equal", 2 * (cpu.type() == named.type()) + (cpu.type() == torch::kCUDA));
  report("kinds", 2 * cpu.is_cuda() + cpu.is_cpu());
  report_text("printed", c10::str(cpu));
  report_refusal("unknown", [] { torch::Device("nowhere"); });
  torch::DeviceType type = torch::kCPU;
  if (torch::cuda::is_available()) type = torch::kCUDA;
  torch::Tensor x = wave({2}).to(type);
  report("moved", x.to(torch::Device(torch::kCPU), torch::kDouble));
  c10::OptionalDeviceGuard guard;
  report("no device", guard.current_device().has_value());
  guard.reset_device(cpu);
  report("a device", guard.current_device()->is_cpu());
  report("as another", torch::ones({2}, torch::kInt).to(wave({1})));
}

namespace {

struct Collector : c10::WarningHandler {
#if TORCH_VERSION_MAJOR >= 2
  void process(const c10::Warning& warning) override { texts.push_back(warning.msg()); }
#else
  void process(const c10::SourceLocation&, const std::string& msg, const bool) override {
    texts.push_back(msg);
  }
#endif
  std::vector<std::string> texts;
};

#if TORCH_VERSION_MAJOR >= 2
using Collecting = c10::WarningUtils::WarningHandlerGuard;
#else
using Collecting = c10::Warning::WarningHandlerGuard;
#endif

}  // namespace

PARITY(checks_and_warnings) {
  const auto text_of = [](const std::function<void()>& call) -> std::string {
    try {
      call();
    } catch (const c10::Error& e) {
      return e.what_without_backtrace();
    }
    return "nothing";
  };
  report_text("check", text_of([] { TORCH_CHECK(1 > 2, "one ", 1, " and ", 2.5); }));
  report_text("passed", text_of([] { TORCH_CHECK(2 > 1, "never"); }));
  report_text("index", text_of([] { TORCH_CHECK_INDEX(false, "outside"); }));
  report_text("error", text_of([] { AT_ERROR("failed ", 3); }));
  report_text("assert", text_of([] { AT_ASSERTM(false, "wrong"); }).substr(0, 5));
  Collector collector;
  {
    const Collecting guard(&collector);
    for (int i = 0; i < 2; ++i) TORCH_WARN_ONCE("once");
    for (int i = 0; i < 2; ++i) TORCH_WARN("twice ", i);
  }
  report_text("warnings", c10::Join("|", collector.texts));
}

// Since PyTorch 2 a warning has a type.
PARITY(kinds_of_warnings) {
#if TORCH_VERSION_MAJOR >= 2
  struct Kinds : c10::WarningHandler {
    void process(const c10::Warning& warning) override {
      text += warning.msg();
      text += warning.type().index() == 1 ? " of an old function|" : "|";
      has_place = has_place && warning.source_location().line > 0 && !warning.verbatim();
    }
    std::string text;
    bool has_place = true;
  } kinds;
  {
    const c10::WarningUtils::WarningHandlerGuard guard(&kinds);
    TORCH_WARN("use ", 2);
    TORCH_WARN_DEPRECATION("call");
    c10::warn(c10::Warning(c10::UserWarning(), {"f", "file", 3}, "made", false));
    const c10::WarningUtils::WarnAlways always;
    for (int i = 0; i < 2; ++i) TORCH_WARN_ONCE("always");
  }
  report_text("kinds", kinds.text);
  report("a place", kinds.has_place);
  report("the handler before", c10::WarningUtils::get_warning_handler() != &kinds);
#else
  report_text("kinds", "use 2|call of an old function|made|always|always|");
  report("a place", true);
  report("the handler before", true);
#endif
}

// Each case is called once, because ambit warns once per case, libtorch in most cases at every
// call. var is not called, because other cases have already caused its warning.
PARITY(warnings_of_functions) {
  Collector collector;
  const Collecting guard(&collector);
  const torch::Tensor y = wave({3}), leaf = wave({2}).set_requires_grad(true);
  y.index({torch::ones({3}, torch::kUInt8)});
  static_cast<void>((leaf * 2).grad());
  (leaf * 2).sum().backward({}, c10::nullopt, true);
  for (std::string& text : collector.texts) text.resize(60);  // the end of the text differs in 1.13
  report_text("warnings", c10::Join("|", collector.texts));
}

PARITY(modes_and_hooks) {
  const torch::Tensor x = wave({3}).set_requires_grad(true);
  {
    torch::NoGradGuard no_grad;
    report("no grad", (x * 2).requires_grad());
    torch::AutoGradMode on(true);
    report("on again", (x * 2).requires_grad());
  }
  {
    c10::InferenceMode guard;
    report("inference", (x * 2).requires_grad());
  }
  double seen = 0;
  auto h = x.register_hook([&](torch::Tensor g) { seen = g.sum().item<double>(); });
  x.register_hook([](torch::Tensor g) { return g * 2; });
  (x * x).sum().backward();
  report("hook", x.grad());
  x.remove_hook(h);
  report("seen", seen, 1e9);  // summed in float
  report("leaf", 2 * x.is_leaf() + (x * 2).is_leaf());
  report("detached", x.detach().requires_grad());
}

PARITY(parallel_loops) {
  std::vector<int64_t> seen(1000);
  at::parallel_for(0, 1000, 10, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) seen[static_cast<size_t>(i)] += i;
  });
  int64_t sum = 0;
  for (const int64_t v : seen) sum += v;
  report("sum", static_cast<double>(sum));
  report("reduced", static_cast<double>(at::parallel_reduce(
                        3, 700, 16, int64_t{0},
                        [](int64_t begin, int64_t end, int64_t part) {
                          for (int64_t i = begin; i < end; ++i) part += i;
                          return part;
                        },
                        std::plus<int64_t>())));
  report_refusal("an error of a thread", [] {
    at::parallel_for(0, 100, 1, [](int64_t, int64_t end) { TORCH_CHECK(end < 100, "last"); });
  });
}

PARITY(containers_are_printed) {
  std::ostringstream text;
  const std::vector<int64_t> sizes{1, 2, 3};
  text << sizes << '|' << std::vector<double>() << '|' << std::vector<int>(101, 7) << '|'
       << std::map<std::string, int>{{"a", 1}, {"b", 2}} << '|' << std::make_pair(1, sizes);
  report_text("containers", text.str());
  std::ostringstream tensor;
  torch::print(tensor, wave({2}), 80);
  report("a tensor", tensor.str().size() > 3);
}
