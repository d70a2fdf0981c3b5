// Bessel and Airy functions: values of PyTorch 2.15 except at infinity, where it has NaN, and where
// it has only 8 to 10 correct digits: there the series of DLMF 10.2.2, 10.8.1 and 9.4.1 with 70
// digits.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

namespace {

using Function = Tensor (*)(const Tensor&);
using Numbers = std::vector<double>;

const Numbers kPoints{-3.5, -0.25, 0, 1e-6, 0.3, 1, 1.5, 4.25, 12, 60, INFINITY, NAN};
const Numbers kOfAiry{-30, -9.5, -8.75, -3.3, -1, 0, 0.4, 1.2, 1.7, 4, 9.5, INFINITY, -INFINITY};

// torch.special.bessel_j0(x) and so on, x = torch.tensor(points).double(), rounded to float32
// before.
const std::tuple<Function, Numbers, Numbers> kFunctions[] = {
    {special_airy_ai,
     kOfAiry,
     {-0.0879681884568, 0.319103247719, -0.23823003846, -0.4171809407584, 0.535560883292,
      0.355028053888, 0.25474235289, 0.106125755932, 0.0543247890434, 0.000951563851205,
      5.33026370462e-10, 0, 0}},
    {special_bessel_j0,
     kPoints,
     {-0.3801277399873, 0.984435929296, 1.0, 1.0, 0.97762624477, 0.765197686558, 0.511827671736,
      -0.3691997702999, 0.04768931079683, -0.0914718040891, 0, NAN}},
    {special_bessel_j1,
     kPoints,
     {-0.1373775273623, -0.124025977323, 0.0, 4.99999998738e-07, 0.148318822034, 0.440050585745,
      0.55793650791, -0.1555531929783, -0.2234471044906, 0.0465983837582, 0, NAN}},
    {special_bessel_y0,
     kPoints,
     {NAN, NAN, -INFINITY, -8.86903148327, -0.807273550469, 0.0882569642157, 0.382448923798,
      -0.1119188511616, -0.2252373126344, 0.0473589522094, 0, NAN}},
    {special_bessel_y1,
     kPoints,
     {NAN, NAN, -INFINITY, -636619.773979, -2.29310505689, -0.7812128213, -0.412308626974,
      0.3585688930839, -0.0570992182609, 0.0918696093699, 0, NAN}},
    {special_modified_bessel_i0,
     kPoints,
     {7.37820343223, 1.01568614122, 1.0, 1.0, 1.02262688116, 1.26606587775, 1.64672318977,
      14.041263683, 18948.9253493, 5.89407705561e+24, INFINITY, NAN}},
    {special_modified_bessel_i1,
     kPoints,
     {-6.20583492226, -0.125979108945, 0.0, 4.99999998738e-07, 0.151693846166, 0.565159103992,
      0.981666428578, 12.2508746674, 18141.3487816, 5.84475158839e+24, INFINITY, NAN}},
    {special_modified_bessel_k0,
     kPoints,
     {NAN, NAN, INFINITY, 13.9314420762, 1.37246002411, 0.421024438241, 0.213805562648,
      0.00844438772454, 2.20082539731e-06, 1.41389784056e-27, 0.0, NAN}},
    {special_modified_bessel_k1,
     kPoints,
     {NAN, NAN, INFINITY, 1000000.00252, 3.05599189566, 0.601907230197, 0.277387800457,
      0.00938968065604, 2.29075746477e-06, 1.42563202652e-27, 0.0, NAN}},
    {special_scaled_modified_bessel_k0,
     kPoints,
     {NAN, NAN, INFINITY, 13.9314560076, 1.85262727368, 1.14446307981, 0.958210053295,
      0.591997283444, 0.358194878489, 0.161468178236, 0.0, NAN}},
    {special_scaled_modified_bessel_k1,
     kPoints,
     {NAN, NAN, INFINITY, 1000001.00252, 4.12515762542, 1.63615348626, 1.24316587355,
      0.658267434196, 0.37283175337, 0.162808230944, 0.0, NAN}},
    {special_spherical_bessel_j0,
     kPoints,
     {-0.10022377934, 0.989615837018, 1.0, 1.0, 0.985067354356, 0.841470984808, 0.664996657736,
      -0.210585731348, -0.0447144098334, -0.00508017701837, 0.0, NAN}},
};

// Results must have a relative error of at most 5e-12, since small values matter here.
void check_relative(const Tensor& got, const Numbers& want) {
  REQUIRE(got.numel() == static_cast<int64_t>(want.size()));
  const Tensor host = got.cpu().to(kFloat64).contiguous();
  for (size_t i = 0; i < want.size(); ++i) {
    const double value = host.data_ptr<double>()[i];
    INFO("element ", i, ": ", value, " expected ", want[i]);
    const bool same = value == want[i] || (std::isnan(value) && std::isnan(want[i]));
    CHECK((same || std::abs(value - want[i]) <= 5e-12 * std::abs(want[i])));
  }
}

}  // namespace

TEST_CASE("Bessel and Airy functions agree with PyTorch") {
  for_each_device([](Device d) {
    for (const auto& [function, points, values] : kFunctions) {
      INFO("function ", &function - &std::get<0>(kFunctions[0]));
      check_relative(function(tensor(points, d).to(kFloat64)), values);
      const Tensor whole = function(tensor({1, 2}, d));
      CHECK(whole.dtype() == kFloat32);
      CHECK(whole.device() == d);
      CHECK(function(ones({2}, dtype(kFloat16).device(d))).dtype() == kFloat16);
    }
  });
  CHECK(special_airy_ai(empty({2, 3}, kMeta)).sizes() == IntArrayRef{2, 3});
  CHECK_THROWS_WITH_AS(special_bessel_j0(Tensor()),
                       "special_bessel_j0: expected self, got an undefined tensor", Error);
  const Tensor leaf = ones({2}).requires_grad_();
  CHECK_THROWS_AS(special_bessel_y1(leaf).sum().backward(), NotImplementedError);
}

TEST_CASE("the Airy function is continuous where its formulas change") {
  // The method changes at -9, and at 1.31, where 2/3 x^1.5 is 1; the slope of Ai is at most 1.
  for (const double at : {-9., 1.3103706971044482}) {
    const Tensor ends = special_airy_ai(tensor({at - 1e-13, at + 1e-13}, kFloat64));
    CHECK(std::abs(ends[0].item<double>() - ends[1].item<double>()) < 1e-12);
  }
}
