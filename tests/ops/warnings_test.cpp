// Warnings are PyTorch's, one for each case, or one for each call if the sink requests all.
#include <ambit/autograd.h>
#include <ambit/detail/warning.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/samples.h>
#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace ambit;

namespace {

std::vector<std::string> texts;
bool all_wanted = true;

/// Collects warnings for a scope.
struct Collected {
  explicit Collected(bool all) {
    static constexpr detail::WarningSink kSink{
        [](const char*, const char* text) { texts.emplace_back(text); }, [] { return all_wanted; }};
    texts.clear();
    all_wanted = all;
    detail::set_warning_sink(&kSink);
  }
  ~Collected() { detail::set_warning_sink(nullptr); }
  Collected(const Collected&) = delete;
  Collected& operator=(const Collected&) = delete;
};

/// Return the warnings of a call.
template <class F>
std::vector<std::string> warnings_of(const F& call) {
  const Collected all(true);
  call();
  return texts;
}

bool is_one(const std::vector<std::string>& got, const std::string& begin) {
  return got.size() == 1 && got[0].starts_with(begin);
}

}  // namespace

// PyTorch 2.15, texts of warnings.catch_warnings: y[u] of u = torch.tensor([1, 0, 1],
// dtype=torch.uint8); torch.where(u, y, y); (a * 2).grad; (a *
// 2).sum().backward(create_graph=True); torch.var(torch.ones(1)), torch.std_mean(torch.ones(0)),
// ...; torch.cov(torch.tensor([1.]))
TEST_CASE("cases of PyTorch's warnings are reported to the sink with the same text") {
  const Tensor y = arange(3, kFloat32), u = tensor({1, 0, 1}).to(kUInt8);
  CHECK(is_one(warnings_of([&] { y.index({u}); }),
               "indexing with dtype torch.uint8 is now deprecated, please use"));
  CHECK(warnings_of([&] { y.index({u.to(kBool)}); }).empty());
  CHECK(is_one(warnings_of([&] { where(u, y, y); }), "where received a uint8 condition tensor."));

  const Tensor leaf = ones({2}).requires_grad_(), b = leaf * 2;
  CHECK(is_one(warnings_of([&] { static_cast<void>(b.grad()); }),
               "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed."));
  CHECK(warnings_of([&] { static_cast<void>(leaf.grad()); }).empty());
  CHECK(warnings_of([&] { static_cast<void>(b.detach().grad()); }).empty());
  b.retain_grad();
  CHECK(warnings_of([&] { static_cast<void>(b.grad()); }).empty());
  CHECK(is_one(warnings_of([&] { (leaf * 2).sum().backward({}, {}, true); }),
               "Using backward() with create_graph=True will create a reference cycle"));
  CHECK(warnings_of([&] { autograd::grad({(leaf * 2).sum()}, {leaf}, {}, {}, true); }).empty());
  leaf.mutable_grad() = Tensor();

  const Tensor one = ones({1});
  CHECK(is_one(warnings_of([&] { var(one); }),
               "var(): degrees of freedom is <= 0. Correction should be strictly less than the "
               "reduction factor (input numel divided by output numel)."));
  CHECK(is_one(warnings_of([&] {
                 ambit::std(ones({2, 1}), IntArrayRef{1});
               }),
               "std(): degrees of freedom"));
  CHECK(is_one(warnings_of([&] { var_mean(one); }), "var_mean(): degrees of freedom"));
  CHECK(is_one(warnings_of([&] { std_mean(ones({0})); }), "std_mean(): degrees of freedom"));
  CHECK(is_one(warnings_of([&] { var(ones({0}), false); }), "var(): degrees of freedom"));
  CHECK(warnings_of([&] { var(one, false); }).empty());
  CHECK(is_one(warnings_of([&] { cov(one); }), "cov(): degrees of freedom is <= 0."));
}

TEST_CASE("a warning is reported once, unless all are requested") {
  const Tensor one = ones({1});
  var(one);  // another test may have reported it before
  const Collected first(false);
  for (int i = 0; i < 3; ++i) var(one);
  CHECK(texts.empty());
  all_wanted = true;
  for (int i = 0; i < 3; ++i) var(one);
  CHECK(texts.size() == 3);
}
