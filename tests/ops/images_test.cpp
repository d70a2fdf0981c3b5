// Images of other sizes, sampled, and as columns: values and gradients of PyTorch, second
// gradients.
#include <ambit/ambit.h>

#include <limits>
#include <sstream>

#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;
namespace F = nn::functional;

namespace {

using Options = F::InterpolateFuncOptions;
using Sizes = std::vector<int64_t>;
using Scales = std::vector<double>;
// Of a tensor t: its first and last element, and (t.flatten() * wave(t.numel(), k=0.31)).sum().
using Probes = std::vector<double>;

void check_probes(const Tensor& t, const Probes& expected) {
  const Tensor flat = t.detach().reshape({-1});
  const Tensor sum = (flat * wave(t.device(), {t.numel()}, 0.31)).sum();
  check_values(stack({flat[0], flat[-1], sum}), {3}, expected);
}

// Probes of y and, after (y * wave(*y.shape, k=0.9)).sum().backward(), of x.grad.
void check_with_gradient(const Tensor& x, const Tensor& y, const Sizes& sizes, const Probes& value,
                         const Probes& dx) {
  REQUIRE(y.sizes() == IntArrayRef(sizes));
  check_probes(y, value);
  (y * wave(y.device(), y.sizes(), 0.9)).sum().backward();
  check_probes(x.grad(), dx);
}

struct Interpolated {
  Sizes shape;
  Options options;
  Sizes sizes;
  Probes value, dx;
};
// x = wave(*shape).requires_grad_(); y = F.interpolate(x, ...)
const std::vector<Interpolated>& interpolated() {
  static const std::vector<Interpolated> rows{
      // clang-format off
    {{2, 3, 5}, Options().size(Sizes{9}), {2, 3, 9}, {0, 0.992766405836, -1.33006335055},
     {0.783326909627, -0.54476612341, 0.789421128543}},
    {{2, 3, 5}, Options().scale_factor(Scales{2.0}), {2, 3, 10}, {0, 0.992766405836,
     11.1616657758}, {0.783326909627, 1.23685132396, 0.241735187839}},
    {{2, 2, 4, 5}, Options().size(Sizes{7, 3}), {2, 2, 7, 3}, {0, -0.929452058477,
     -1.82845173517}, {0.427379880234, 0, 10.0481978277}},
    {{2, 2, 4, 5}, Options().scale_factor(Scales{1.5, 2.0}), {2, 2, 6, 10}, {0, -0.948563693718,
     -0.176545736902}, {0.737909501094, 1.53615605829, -1.71548667301}},
    {{1, 2, 3, 4, 5}, Options().size(Sizes{5, 2, 10}), {1, 2, 5, 2, 10}, {0, -0.952146491944,
     7.97199168216}, {0.0827623506626, 0, -1.04441547196}},
    {{2, 3, 5}, Options().size(Sizes{8}).mode(kNearestExact), {2, 3, 8}, {0, 0.992766405836,
     -0.579461212803}, {0.783326909627, -1.52437939849, 0.140985855472}},
    {{2, 2, 4, 5}, Options().size(Sizes{7, 3}).mode(kNearestExact), {2, 2, 7, 3}, {0,
     -0.948563693718, -0.738590462526}, {0.427379880234, -0.389034709077, 1.06324541319}},
    {{1, 2, 3, 4, 5}, Options().size(Sizes{5, 2, 10}).mode(kNearestExact), {1, 2, 5, 2, 10},
     {-0.35078322769, 0.998858051695, -5.30442813187}, {0, -0.01311594933, 0.44467634824}},
    {{2, 3, 5}, Options().size(Sizes{9}).mode(kLinear), {2, 3, 9}, {0, 0.992766405836,
     -3.55329218642}, {0.630423232071, -0.228103009015, 0.316210082194}},
    {{2, 3, 5}, Options().size(Sizes{9}).mode(kLinear).align_corners(true), {2, 3, 9}, {0,
     0.992766405836, -2.51082474898}, {0.391663454814, -0.385637867859, 0.74504055292}},
    {{2, 3, 5}, Options().scale_factor(Scales{3.0}).mode(kLinear), {2, 3, 15}, {0,
     0.992766405836, 3.77081275661}, {1.57501862362, -1.15200387207, -0.318638182791}},
    {{2, 3, 9}, Options().scale_factor(Scales{0.4}).mode(kLinear).recompute_scale_factor(true),
     {2, 3, 3}, {0.644217687238, -0.963320224474, 0.355352373916}, {0, 0, 7.07937180836}},
    {{2, 3, 9}, Options().scale_factor(Scales{0.4}).mode(kLinear), {2, 3, 3}, {0.483163265428,
     -0.789295671249, 0.505735098365}, {0, 0, 7.58830329474}},
    {{2, 2, 4, 5}, Options().scale_factor(Scales{2.0, 2.0}).mode(kBilinear), {2, 2, 8, 10}, {0,
     -0.948563693718, 1.81343158895}, {0.57131852135, -0.342956456958, -0.0717288890325}},
    {{2, 2, 4, 5}, Options().size(Sizes{8, 10}).mode(kBilinear).align_corners(true), {2, 2, 8,
     10}, {0, -0.948563693718, 2.01506301203}, {0.480985394947, -0.47708386381,
     -0.0734038457742}},
    {{2, 2, 4, 5}, Options().size(Sizes{3, 11}).mode(kBilinear), {2, 2, 3, 11},
     {-0.0584638712816, -0.623912745252, -0.773052801573}, {0.829191871982, -1.25822438876,
     0.21199504428}},
    {{2, 2, 4, 6}, Options().size(Sizes{2, 3}).mode(kBilinear), {2, 2, 2, 3}, {-0.30245267445,
     -0.445054455743, 0.170313559306}, {0, 0.240288181126, 2.94443888074}},
    {{2, 2, 1, 5}, Options().size(Sizes{3, 1}).mode(kBilinear).align_corners(true), {2, 2, 3,
     1}, {0, -0.879695759972, 0.505952865783}, {1.75717454051, 0, -1.91356150506}},
    {{1, 1, 3, 40}, Options().size(Sizes{6, 70}).mode(kBilinear), {1, 1, 6, 70}, {0,
     0.998858051695, 0.41547134863}, {1.41992992199, -1.12751803947, 1.39838801886}},
    {{1, 2, 3, 4, 2}, Options().size(Sizes{5, 4, 3}).mode(kTrilinear), {1, 2, 5, 4, 3}, {0,
     0.996241928755, 0.509630735209}, {-0.425493358402, 0.799743189439, -0.382436899585}},
    {{1, 2, 3, 4, 2}, Options().size(Sizes{5, 4, 3}).mode(kTrilinear).align_corners(true), {1,
     2, 5, 4, 3}, {0, 0.996241928755, 0.754326865712}, {-0.289300556199, 0.665426112865,
     -0.446671465062}},
    {{1, 2, 3, 4, 2}, Options().scale_factor(Scales{2.0, 1.5, 2.0}).mode(kTrilinear), {1, 2, 6,
     6, 4}, {0, 0.996241928755, -5.67570375747}, {0.176381121764, 0.14960774573,
     -0.296442522225}},
    {{2, 2, 4, 5}, Options().scale_factor(Scales{2.0, 2.0}).mode(kBicubic), {2, 2, 8, 10},
     {-0.0439073401412, -1.15910915609, 2.55174061479}, {0.604026504684, -0.640188949891,
     -0.0363578846903}},
    {{2, 2, 4, 5}, Options().size(Sizes{7, 3}).mode(kBicubic).align_corners(true), {2, 2, 7, 3},
     {0, -0.948563693718, -0.331549176363}, {0.12276277035, -0.460975419355, 5.44134977618}},
    {{1, 2, 20, 5}, Options().size(Sizes{50, 9}).mode(kBicubic), {1, 2, 50, 9},
     {-0.0392280898885, 1.11071050727, 8.5916910384}, {1.0590655299, -0.634863126155,
     0.298763623563}},
    {{1, 2, 9, 8}, Options().size(Sizes{4, 3}).mode(kBilinear).antialias(true), {1, 2, 4, 3},
     {0.137780647731, -0.417507614822, -0.249395725677}, {0, 0.103341984665, 0.323888398575}},
    {{1, 2, 9, 8}, Options().size(Sizes{4, 3}).mode(kBicubic).antialias(true), {1, 2, 4, 3},
     {0.156748422531, -0.484969254272, -0.193429046013}, {-0.0132856322539, 0.122631707289,
     0.311349836473}},
    {{1, 2, 3, 8}, Options().size(Sizes{5,
     3}).mode(kBilinear).antialias(true).align_corners(true), {1, 2, 5, 3}, {0.610748999558,
     0.847605615736, -0.0963560919984}, {0.0266533510367, 0.215026311018, 1.80642388832}},
    {{2, 3, 7}, Options().size(Sizes{3}).mode(kArea), {2, 3, 3}, {0.543222472409,
     0.228435379888, -0.740383191275}, {0, 0.13224685771, 1.37418326887}},
    {{2, 2, 4, 5}, Options().size(Sizes{2, 3}).mode(kArea), {2, 2, 2, 3}, {-0.144535328216,
     -0.0344252860782, 0.658864134167}, {0, 0.240288181126, -3.15725252789}},
    {{1, 2, 4, 5, 3}, Options().size(Sizes{3, 2, 2}).mode(kArea), {1, 2, 3, 2, 2},
     {-0.00153572273434, -0.000311459186081, 0.000896673947147}, {0, 0.0800960603752,
     -0.698958460127}},
      // clang-format on
  };
  return rows;
}

struct Sampled {
  int64_t dims;
  Interpolation mode;
  F::GridPaddingMode padding;
  bool align_corners;
  Probes value, dx, dgrid;

  Tensor operator()(const Tensor& x, const Tensor& grid) const {
    return F::grid_sample(
        x, grid,
        F::GridSampleFuncOptions().mode(mode).padding_mode(padding).align_corners(align_corners));
  }
};
// x = wave(2, 3, 4, 5), grid = wave(2, 3, 2, 2, k=0.37) * 1.4; or wave(1, 2, 3, 4, 5) and
// wave(1, 2, 1, 3, 3, k=0.37) * 1.4; y = F.grid_sample(x, grid, ...)
const std::vector<Sampled>& samples() {
  static const std::vector<Sampled> rows{
      // clang-format off
    {2, kBilinear, kZeros, false, {0.0997875162021, 0, -1.59391711103}, {-0.215599822197,
     -0.170316537272, 1.33779609009}, {0.409553605428, 0, 0.784106049514}},
    {2, kBilinear, kZeros, true, {0.472582366714, 0.261965444205, -1.43727883478},
     {-0.386932525085, -0.149251984189, 0.364698235715}, {0.158666764662, 0.318339611052,
     -0.0871987622807}},
    {2, kBilinear, kBorder, false, {0.0997875162021, 0.998858051695, -1.75003063832},
     {-0.835227630414, -0.929221832142, -0.981584932658}, {0.409553605428, 0, 5.33906791896}},
    {2, kBilinear, kBorder, true, {0.472582366714, 0.998858051695, -1.84134769544},
     {-0.472676080798, -0.67215563497, -1.79432381249}, {0.158666764662, 0, 7.2453228984}},
    {2, kBilinear, kReflection, false, {0.0997875162021, 0.92582476841, -1.73258201331},
     {-0.835227630414, -0.672730181707, -1.13918378172}, {0.409553605428, 0, -4.28748132466}},
    {2, kBilinear, kReflection, true, {0.472582366714, 0.60900568599, -2.10270493203},
     {-0.386932525085, -0.149251984189, -2.2743003224}, {0.158666764662, 3.40481438538,
     3.67731532695}},
    {2, kNearest, kZeros, false, {-0.618137112237, 0, -1.91062764554}, {0, 0, 3.67552457766},
     {0, 0, 0}},
    {2, kNearest, kZeros, true, {0.854598908088, 0, 0.967017674423}, {0, 0, 1.8129900028}, {0,
     0, 0}},
    {2, kNearest, kBorder, false, {-0.618137112237, 0.998858051695, -1.57483119796},
     {-0.977530117665, -0.64438631214, 0.625933375591}, {0, 0, 0}},
    {2, kNearest, kBorder, true, {0.854598908088, 0.998858051695, -0.390121182406}, {0,
     -0.64438631214, -0.524835378204}, {0, 0, 0}},
    {2, kNearest, kReflection, false, {-0.618137112237, 0.998858051695, -1.57483119796},
     {-0.977530117665, -0.64438631214, 0.625933375591}, {0, 0, 0}},
    {2, kNearest, kReflection, true, {0.854598908088, 0.794747234017, -0.265420518609}, {0, 0,
     -0.436072799364}, {0, 0, 0}},
    {2, kBicubic, kZeros, false, {0.205923663026, -0.0378462894553, -1.81706556367},
     {-0.254281084739, -0.229531001277, 1.34355809318}, {0.842834738709, -0.249406965716,
     -2.86215596453}},
    {2, kBicubic, kZeros, true, {0.67954441292, 0.3128638992, -1.50016981264}, {-0.52196806829,
     -0.192063848934, 0.35153621203}, {0.938176584326, 0.0263119203751, -0.659141644213}},
    {2, kBicubic, kBorder, false, {0.26528820203, 1.08202829955, -2.15319883645},
     {-0.888538878923, -0.932516015879, -0.966341387905}, {0.837791358251, 0.828758070894,
     3.95628284731}},
    {2, kBicubic, kBorder, true, {0.702646369394, 1.17969902179, -2.14305506744},
     {-0.513576911693, -0.778897501715, -1.85871824967}, {0.936606462395, -0.791091758758,
     7.41818486386}},
    {2, kBicubic, kReflection, false, {0.26528820203, 1.23988165342, -2.49774741727},
     {-0.979828922699, -0.714129368609, -0.872301090915}, {0.837791358251, 1.31619612385,
     -4.53125381386}},
    {2, kBicubic, kReflection, true, {0.647605048035, 0.815869415169, -2.4800716427},
     {-0.52196806829, -0.192063848934, -2.42185525874}, {0.905974045108, 2.88577987881,
     1.11904059894}},
    {3, kBilinear, kZeros, false, {-0.0324065633986, -0.106213395517, 0.328448441275}, {0,
     0.0617330110862, -0.233738015993}, {0.034714045177, -0.203142908336, -2.81607264659}},
    {3, kBilinear, kBorder, true, {-0.482049954694, -0.0338904902616, 0.524553945647},
     {-0.442520443295, 0.137312954315, -1.68715328112}, {0.510992209517, -0.392626549823,
     0.197955685843}},
    {3, kBilinear, kReflection, false, {-0.0554911292088, -0.161501862424, 1.27837094675},
     {-0.19856485061, 0.301320730162, -1.42243151633}, {0.0594423278576, -0.308887197087,
     2.6026052005}},
    {3, kBilinear, kReflection, true, {-0.482049954694, -0.0338904902616, -0.315406247558},
     {-0.041278262842, 0.0949498729733, -1.81447436982}, {0.510992209517, -0.392626549823,
     0.3888537917}},
    {3, kNearest, kZeros, false, {0.807973403667, 0.189114620351, -0.817718818627}, {0, 0,
     -0.636468280203}, {0, 0, 0}},
    {3, kNearest, kBorder, true, {-0.963320224474, 0.189114620351, 0.539453887158},
     {-0.442520443295, 0.0168139004843, -2.59068921764}, {0, 0, 0}},
    {3, kNearest, kReflection, false, {0.807973403667, 0.189114620351, 0.613728822052},
     {-0.442520443295, 0.0168139004843, -1.95067585827}, {0, 0, 0}},
    {3, kNearest, kReflection, true, {-0.963320224474, 0.189114620351, -1.51398343402}, {0, 0,
     -2.59865394836}, {0, 0, 0}},
      // clang-format on
  };
  return rows;
}
Tensor image_of(const Sampled& s, Device d) {
  return wave(d, s.dims == 2 ? Sizes{2, 3, 4, 5} : Sizes{1, 2, 3, 4, 5});
}
Tensor grid_of(const Sampled& s, Device d) {
  return wave(d, s.dims == 2 ? Sizes{2, 3, 2, 2} : Sizes{1, 2, 1, 3, 3}, 0.37) * 1.4;
}

struct Columns {
  Sizes shape, image;  // image: of fold
  IntOrPair kernel, dilation, padding, stride;
  Sizes sizes;
  Probes value, dx;

  Tensor operator()(const Tensor& x) const {
    if (image.empty()) {
      return F::unfold(
          x, F::UnfoldFuncOptions(kernel).dilation(dilation).padding(padding).stride(stride));
    }
    return F::fold(x, F::FoldFuncOptions(IntOrPair(IntArrayRef(image)), kernel)
                          .dilation(dilation)
                          .padding(padding)
                          .stride(stride));
  }
};
// x = wave(*shape); y = F.unfold(x, kernel, ...) or F.fold(x, image, kernel, ...)
const std::vector<Columns>& columns() {
  static const std::vector<Columns> rows{
      // clang-format off
    {{2, 3, 5, 6}, {}, 2, 1, 0, 1, {2, 12, 20}, {0, -0.355740374022, 2.84812209698}, {0,
     -0.645598290791, -5.99444296936}},
    {{2, 3, 5, 6}, {}, {3, 2}, 1, 1, 2, {2, 18, 12}, {0, 0, 0.672821422164}, {0.832759485308,
     -0.479451992545, -0.049904124962}},
    {{1, 2, 7, 6}, {}, {2, 3}, {2, 1}, {1, 2}, {1, 3}, {1, 12, 21}, {0, 0, 0.481309414898},
     {0.334151176848, -0.0963279189425, 15.3186924446}},
    {{3, 5, 6}, {}, 2, 1, 0, 2, {12, 6}, {0, 0.999810580553, -7.53981654076}, {0, 0,
     -1.99467170635}},
    {{2, 12, 20}, {5, 6}, 2, 1, 0, 1, {2, 3, 5, 6}, {0, 0.751553530304, -1.96479465524}, {0,
     -0.769957578111, 2.98629071176}},
    {{2, 18, 12}, {5, 6}, {3, 2}, 1, 1, 2, {2, 3, 5, 6}, {0.0672080725255, 0.0398359406106,
     1.16139826523}, {0, 0, 0.222334366938}},
    {{1, 12, 56}, {7, 6}, {2, 3}, {2, 1}, {1, 2}, {1, 1}, {1, 2, 7, 6}, {2.3887677912,
     -0.20306739851, -0.424058923968}, {0, 0, -0.599233444057}},
    {{8, 6}, {4, 6}, 2, 1, 0, 2, {2, 4, 6}, {0, 0.996241928755, -0.276558785953}, {0,
     -0.993790220741, 0.22610923688}},
      // clang-format on
  };
  return rows;
}

template <class Module>
std::string printed(const Module& module) {
  std::ostringstream os;
  os << *module;
  return os.str();
}

struct Affine {
  Sizes theta, size;
  bool align_corners;
  Probes value, dtheta;
};

}  // namespace

TEST_CASE("interpolate has PyTorch's values and gradients") {
  for_each_device([](Device d) {
    for (size_t i = 0; i < interpolated().size(); ++i) {
      INFO("row ", i);
      const Interpolated& row = interpolated()[i];
      const Tensor x = wave(d, row.shape).requires_grad_();
      check_with_gradient(x, F::interpolate(x, row.options), row.sizes, row.value, row.dx);
    }
  });
}

TEST_CASE("interpolate has right first and second gradients") {
  for_each_device([](Device d) {
    for (const size_t i : {1, 3, 5, 9, 13, 15, 20, 22, 26, 30}) {
      INFO("row ", i);
      const Interpolated& row = interpolated()[i];
      Sizes shape = row.shape;
      shape[0] = shape[1] = 1;
      const auto f = [&](const std::vector<Tensor>& in) {
        return F::interpolate(in[0], row.options);
      };
      gradcheck(f, {wave(d, shape)});
      gradgradcheck(f, {wave(d, shape)});
    }
  });
}

TEST_CASE("interpolation takes any layout, no images at all, and any dtype for the nearest") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 5, 4, 3});
    const Tensor y = upsample_bilinear2d(x.permute({0, 3, 2, 1}), {8, 7}, false);
    CHECK(y.equal(upsample_bilinear2d(x.permute({0, 3, 2, 1}).contiguous(), {8, 7}, false)));
    CHECK(y.is_contiguous());
    CHECK(upsample_bilinear2d(zeros({0, 3, 4, 5}, d), {8, 9}, false).sizes() ==
          IntArrayRef{0, 3, 8, 9});
    const Tensor n = arange(4, TensorOptions(kInt64).device(d)).view({1, 1, 4});
    CHECK(upsample_nearest1d(n, {8}).equal(
        tensor({0, 0, 1, 1, 2, 2, 3, 3}, TensorOptions(kInt64).device(d)).view({1, 1, 8})));
    // F.interpolate(torch.arange(4).float().view(1, 1, 4), 7), an index in float32
    check_values(upsample_nearest1d(n.to(kFloat32), {7}), {1, 1, 7}, {0, 0, 1, 1, 2, 2, 3});
    const Tensor negative = tensor({-0., 0.}, d).view({1, 1, 2});
    CHECK(signbit(upsample_nearest1d(negative, {3}))
              .equal(tensor({true, true, false}, d).view({1, 1, 3})));
    // The same size is a copy, not the image itself.
    const Tensor same = upsample_nearest1d(n, {4});
    CHECK(same.equal(n));
    CHECK_FALSE(same.is_same(n));
    // What is not near is not read: inf stays where it is.
    const double inf = std::numeric_limits<double>::infinity();
    Tensor far = zeros({1, 1, 64}, TensorOptions(kFloat64).device(d));
    far.slice(2, 0, 1).fill_(inf);
    const Tensor wide = upsample_linear1d(far, {128}, false);
    CHECK(wide.slice(2, 3).eq(0).all().item<bool>());
    CHECK(upsample_linear1d(far, {100}, true).slice(2, 2).eq(0).all().item<bool>());
  });
}

TEST_CASE("many ways of scaling agree with weights in a matrix") {
  // Each element of a dim is a weighted sum: of the rows of what becomes of the unit matrix.
  for_each_device([](Device d) {
    for (const int64_t in : {1, 2, 3, 7, 16}) {
      const Tensor one = eye(in, TensorOptions(kFloat64).device(d)).unsqueeze(1);
      const Tensor x = wave(d, {2, 3, in, 4});
      for (const int64_t out : {1, 2, 5, 8, 14, 21, 32}) {
        for (const bool corners : {false, true}) {
          INFO(in, " to ", out);
          const Tensor linear = upsample_linear1d(one, {out}, corners).squeeze(1);
          const Tensor cubic =
              upsample_bicubic2d(one.unsqueeze(3), {out, 1}, corners).squeeze(3).squeeze(1);
          CHECK(upsample_bilinear2d(x, {out, 4}, corners)
                    .allclose(matmul(linear.t(), x), 1e-13, 1e-13));
          CHECK(upsample_bicubic2d(x, {out, 4}, corners)
                    .allclose(matmul(cubic.t(), x), 1e-13, 1e-13));
        }
      }
    }
  });
}

TEST_CASE("grid_sample has PyTorch's values and gradients") {
  for_each_device([](Device d) {
    for (size_t i = 0; i < samples().size(); ++i) {
      INFO("row ", i);
      const Sampled& row = samples()[i];
      const Tensor x = image_of(row, d).requires_grad_(), grid = grid_of(row, d).requires_grad_();
      const Tensor y = row(x, grid);
      check_with_gradient(x, y, y.sizes().vec(), row.value, row.dx);
      check_probes(grid.grad(), row.dgrid);
    }
  });
}

TEST_CASE("grid_sample has right first and second gradients") {
  for_each_device([](Device d) {
    for (size_t i = 0; i < samples().size(); ++i) {
      if (samples()[i].mode == kNearest || i % 2 == 0) continue;
      INFO("row ", i);
      // Away from the centers of elements, where the slope changes.
      const Tensor x = wave(d, {1, 1, 4, 3}), grid = wave(d, {1, 2, 2, 2}, 0.37) * 1.4 + 0.07;
      const Sampled& row = samples()[i];
      if (row.dims != 2) continue;
      const auto f = [&](const std::vector<Tensor>& in) { return row(in[0], in[1]); };
      gradcheck(f, {x, grid});
      gradgradcheck(f, {x, grid});
    }
  });
}

TEST_CASE("grid_sample of places far off, infinite and NaN") {
  // x = torch.arange(1., 17).view(1, 1, 4, 4); g = torch.tensor([[[[nan, 0.], [0., nan], [inf, 0.],
  // [.3, -inf], [3., .2]]]])
  for_each_device([](Device d) {
    const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
    const TensorOptions f64(TensorOptions(kFloat64).device(d));
    const Tensor x = arange(1, 17, 1, f64).view({1, 1, 4, 4});
    const Tensor g =
        tensor({{nan, 0.}, {0., nan}, {inf, 0.}, {0.3, -inf}, {3., 0.2}}, f64).view({1, 1, 5, 2});
    const auto sampled = [&](int64_t mode, int64_t padding) {
      return grid_sampler(x, g, mode, padding, false).view({5});
    };
    check_values(sampled(0, 0), {5}, {nan, nan, nan, nan, 0});
    check_values(sampled(0, 1), {5}, {7, 2.5, 10, 3.1, 11.6});
    check_values(sampled(0, 2), {5}, {7, 2.5, 7, 3.1, 8.6});
    check_values(sampled(1, 0), {5}, {0, 0, 0, 0, 0});
    check_values(sampled(1, 1), {5}, {9, 3, 12, 3, 12});
    check_values(sampled(1, 2), {5}, {9, 3, 9, 3, 9});
    check_values(sampled(2, 1), {5}, {nan, nan, nan, nan, 11.456});
    // An infinite element has no part in what is beside the image.
    const Tensor hot = full({1, 1, 1, 1}, inf, f64);
    CHECK(grid_sampler(hot, full({1, 1, 1, 2}, 5., f64), 0, 0, false).item<double>() == 0);
    CHECK(grid_sampler(x.expand({1, 0, 4, 4}), g, 0, 0, false).sizes() == IntArrayRef{1, 0, 1, 5});
  });
}

TEST_CASE("affine_grid has PyTorch's values and gradients") {
  // theta = wave(*shape); y = F.affine_grid(theta, size, align_corners)
  const std::vector<Affine> rows{
      // clang-format off
    {{2, 2, 3}, {2, 1, 3, 4}, false, {0.55597127183, 1.43876972505, -0.437574468766},
     {-2.03559201988, -1.04283912633, 3.80565322377}},
    {{2, 2, 3}, {2, 1, 3, 4}, true, {0.341232042751, 1.66196873308, -1.11002335778},
     {-2.71412269318, -1.04283912633, 4.44426605854}},
    {{1, 3, 4}, {1, 2, 2, 1, 3}, false, {0.370484501655, 0.895817107988, -0.816809760374},
     {-0.6259132479, 0.762813103639, 1.53933690169}},
    {{1, 3, 4}, {1, 2, 2, 1, 3}, true, {-0.12224036334, 1.01388819472, -1.95990583871},
     {-0.938869871849, 0.762813103639, 2.04762476633}},
      // clang-format on
  };
  for_each_device([&](Device d) {
    for (const Affine& row : rows) {
      const Tensor theta = wave(d, row.theta).requires_grad_();
      const Tensor y = F::affine_grid(theta, row.size, row.align_corners);
      check_with_gradient(theta, y, y.sizes().vec(), row.value, row.dtheta);
    }
    const auto f = [](const std::vector<Tensor>& in) {
      return affine_grid_generator(in[0], {1, 1, 2, 3}, false).square();
    };
    gradcheck(f, {wave(d, {1, 2, 3})});
    gradgradcheck(f, {wave(d, {1, 2, 3})});
    // The map that changes nothing gives the image back.
    const Tensor x = wave(d, {2, 3, 4, 5});
    const Tensor same = tensor({{1., 0., 0.}, {0., 1., 0.}}, x.options()).expand({2, 2, 3});
    CHECK(F::grid_sample(x, F::affine_grid(same, x.sizes())).allclose(x, 1e-12, 1e-12));
  });
}

TEST_CASE("unfold and fold have PyTorch's values and gradients") {
  for_each_device([](Device d) {
    for (size_t i = 0; i < columns().size(); ++i) {
      INFO("row ", i);
      const Columns& row = columns()[i];
      const Tensor x = wave(d, row.shape).requires_grad_();
      check_with_gradient(x, row(x), row.sizes, row.value, row.dx);
      Sizes shape = row.shape;
      if (shape.size() > 3 - size_t(!row.image.empty())) shape[0] = 1;
      const auto f = [&](const std::vector<Tensor>& in) { return row(in[0]); };
      if (i % 4 == 1 || i % 4 == 3) gradgradcheck(f, {wave(d, shape)});
    }
    // Each column of ones adds 1 to every element of its window.
    const Tensor ones_of = ones({1, 1, 4, 4}, TensorOptions(kFloat64).device(d));
    check_values(col2im(im2col(ones_of, 3, 1, 1, 1), 4, 3, 1, 1, 1).view({16}), {16},
                 {4, 6, 6, 4, 6, 9, 9, 6, 6, 9, 9, 6, 4, 6, 6, 4});
    CHECK(im2col(wave(d, {2, 3, 5, 4}).transpose(2, 3), {2, 3}, 1, 1, 2)
              .equal(im2col(wave(d, {2, 3, 5, 4}).transpose(2, 3).contiguous(), {2, 3}, 1, 1, 2)));
    CHECK(im2col(zeros({0, 2, 3, 3}, d), 2, 1, 0, 1).sizes() == IntArrayRef{0, 8, 4});
    // Windows that meet padding only.
    CHECK(im2col(ones({1, 1, 1, 1}, d), 1, 1, 2, 1).sum().item<double>() == 1);
  });
}

TEST_CASE("image layers print as PyTorch's and do what their functions do") {
  CHECK(printed(nn::Upsample(
            nn::UpsampleOptions().scale_factor(std::vector<double>{2, 3}).mode(kBilinear))) ==
        "Upsample(scale_factor=(2.0, 3.0), mode=bilinear)");
  CHECK(printed(nn::Upsample(nn::UpsampleOptions().size(std::vector<int64_t>{4}).mode(kLinear))) ==
        "Upsample(size=(4,), mode=linear)");
  CHECK(printed(nn::Fold(nn::FoldOptions({4, 5}, {2, 2}))) ==
        "Fold(output_size=(4, 5), kernel_size=2, dilation=1, padding=0, stride=1)");
  CHECK(printed(nn::Unfold(nn::UnfoldOptions({2, 3}).padding(1))) ==
        "Unfold(kernel_size=(2, 3), dilation=1, padding=1, stride=1)");
  const Tensor x = wave(Device(), {2, 4, 6, 5});
  nn::Upsample twice(nn::UpsampleOptions().scale_factor(std::vector<double>{2, 2}));
  CHECK(twice(x).equal(upsample_nearest2d(x, {12, 10})));
  CHECK(nn::Sequential(twice)->forward(x).equal(twice(x)));
  CHECK(nn::Unfold(2)(x).equal(im2col(x, 2, 1, 0, 1)));
  CHECK(nn::Fold(IntOrPair(2), IntOrPair(2))(x.view({2, 4, 30}).slice(2, 0, 1)).sizes() ==
        IntArrayRef{2, 1, 2, 2});
}

TEST_CASE("interpolate and grid_sample refuse options that do not fit") {
  const Tensor x4 = ones({1, 1, 4, 4});
  const auto options = [] { return F::InterpolateFuncOptions(); };
  const std::vector<int64_t> size{8, 8};
  const std::vector<double> scale{2, 2};
  CHECK_THROWS_AS(F::interpolate(x4), Error);
  CHECK_THROWS_AS(F::interpolate(x4, options().size(size).scale_factor(scale)), Error);
  CHECK_THROWS_AS(F::interpolate(x4, options().scale_factor(std::vector<double>{2})), Error);
  CHECK_THROWS_AS(F::interpolate(x4, options().scale_factor(std::vector<double>{0.1, 2})), Error);
  CHECK_THROWS_AS(F::interpolate(x4, options().size(size).align_corners(true)), Error);
  CHECK_THROWS_AS(F::interpolate(x4, options().size(size).mode(kArea).antialias(true)), Error);
  CHECK_THROWS_AS(F::interpolate(x4, options().size(size).mode(kLinear)), ShapeError);
  CHECK_THROWS_AS(F::interpolate(ones({4, 4}), options().size(size)), ShapeError);
  CHECK_THROWS_AS(F::interpolate(Tensor(), options().size(size)), Error);
  CHECK_THROWS_AS(options().mode(kReLU), Error);
  const Tensor grid = zeros({1, 2, 2, 2});
  CHECK_THROWS_AS(F::grid_sample(x4, grid, F::GridSampleFuncOptions().mode(kArea)), Error);
  CHECK_THROWS_AS(F::GridSampleFuncOptions().padding_mode(kReflect), Error);
}
