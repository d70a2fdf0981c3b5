// torch.fft's transforms compared with PyTorch 2.15: values, first and second gradients, over
// devices.
#include <ambit/ambit.h>
#include <ambit/detail/fft.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/out.h>

#include <cmath>
#include <vector>

#include "fourier_cases.h"
#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"

using namespace ambit;
using namespace fourier;

TEST_CASE("transforms along dims have PyTorch's values") {
  for_each_device([](Device d) {
    // x = wave(2, 4); z = torch.complex(wave(2, 3), wave(2, 3, k=.3))
    const Tensor x = wave(d, {2, 4}), z = made_of(wave(d, {2, 3}), wave(d, {2, 3}, 0.3));
    // The values are from the same calls of torch.fft, as torch.view_as_real shows them.
    check_parts(fft_fft(x), {2, 4, 2},
                {2.492876783875, 0, -0.985449729988, 0.218991679411, -0.521977323898, 0,
                 -0.985449729988, -0.218991679411, -1.869823462572, 0, 1.206563922569,
                 -0.631669384935, 0.796648218056, 0, 1.206563922569, 0.631669384935});
    check_parts(fft_fft(z, 4, 0, "ortho"), {4, 3, 2},
                {0.431604683324,  0.391663454814, 0.489602918697,  0.613779646314,  0.317333251149,
                 0.78106873,      0.391663454814, -0.431604683324, 0.788128386602,  -0.019733971747,
                 0.991472358296,  0.457712850542, -0.431604683324, -0.391663454814, 0.154614768541,
                 -0.318259439653, 0.668116478839, -0.216426256605, -0.391663454814, 0.431604683324,
                 -0.143910699365, 0.315254178409, -0.006022628308, 0.106929622853});
    check_parts(fft_ifft(z), {2, 3, 2},
                {0.543222472409, 0.286720893352, -0.193922329633, -0.241865652545, -0.349300142776,
                 -0.044855240807, 0.282471429705, 0.904286994066, 0.309264459398, 0.137485102581,
                 0.271473477546, -0.25844518702});
    check_parts(
        fft_ifft(x, 3, -1, "forward"), {2, 3, 2},
        {1.629667417226, -0, -0.814833708613, -0.295515617607, -0.814833708613, 0.295515617607,
         -0.887370849947, -0, 0.946167650208, 0.451019573832, 0.946167650208, -0.451019573832});
    check_parts(
        fft_rfft(x, 5), {2, 3, 2},
        {2.492876783875, 0, -1.296522412552, -0.684538512166, 0.050084020615, -0.262404161716,
         -1.869823462572, 0, 1.726530643007, 0.268442903005, 0.045851463668, 0.311635349376});
    check_parts(fft_rfft(x, {}, 0, "forward"), {2, 4, 2},
                {0.167494075078, 0, 0.146717229774, 0, 0.056936978787, 0, -0.059621622988, 0,
                 -0.167494075078, 0, 0.497500457464, 0, 0.928512751201, 0, 0.922830989637, 0});
    check_parts(fft_irfft(z), {2, 4},
                {0.568471276116, -0.394122535828, -0.075746411122, -0.098602329166, 0.295600609818,
                 -0.162521394399, -0.039387540338, 0.769517691568});
    check_parts(fft_irfft(z, 3, -1, "ortho"), {2, 3},
                {0.743878510287, -0.667459461805, -0.076419048482, 0.885185157537, -0.627070424433,
                 1.237007747501});
    check_parts(fft_hfft(z, 5), {2, 5},
                {3.259334834452, 0.029547143384, -1.159933655706, 0.293284282172, -2.422232604302,
                 0.831619211581, 4.583291991384, -0.697279358907, 0.906061751852, -1.307646762666});
    check_parts(fft_hfft(x, 4, 0, "ortho"), {4, 4},
                {0.334988150156, -0.028674384071, -0.378850907419, -0.5508479293, 0, 0.322108843619,
                 0.492724864994, 0.431604683324, -0.334988150156, 0.672892071308, 1.364300637408,
                 1.414057295949, 0, 0.322108843619, 0.492724864994, 0.431604683324});
    check_parts(fft_ihfft(x), {2, 3, 2},
                {0.623219195969, -0, -0.246362432497, -0.054747919853, -0.130494330975, -0,
                 -0.467455865643, -0, 0.301640980642, 0.157917346234, 0.199162054514, -0});
    check_parts(fft_ihfft(x, 3, 1, "forward"), {2, 2, 2},
                {1.629667417226, -0, -0.814833708613, -0.295515617607, -0.887370849947, -0,
                 0.946167650208, 0.451019573832});
    check_parts(fft_fft2(x), {2, 4, 2},
                {0.623053321303, 0, 0.221114192581, -0.412677705524, 0.274670894158, 0,
                 0.221114192581, 0.412677705524, 4.362700246447, 0, -2.192013652558, 0.850661064346,
                 -1.318625541954, 0, -2.192013652558, -0.850661064346});
    check_parts(fft_ifft2(z, IntArrayRef{2, -1}, {-1, 0}, "ortho"), {2, 2, 2},
                {0.921207602021, 1.005443101128, -0.057998235372, -0.222116191501, -0.276989914784,
                 -0.709922894467, -0.586219451865, -0.073404015161});
    check_parts(fft_rfft2(x), {2, 3, 2},
                {0.623053321303, 0, 0.221114192581, -0.412677705524, 0.274670894158, 0,
                 4.362700246447, 0, -2.192013652558, 0.850661064346, -1.318625541954, 0});
    check_parts(fft_irfft2(z), {2, 4},
                {0.432035942967, -0.278321965113, -0.05756697573, 0.335457681201, 0.136435333149,
                 -0.115800570714, -0.018179435392, -0.434060010367});
    check_parts(fft_hfft2(z, IntArrayRef{2, 3}), {2, 3},
                {2.821621041436, 2.010198593391, -2.242191534881, -0.244750292485, -2.274921942665,
                 -0.069955864796});
    check_parts(fft_ihfft2(x), {2, 3, 2},
                {0.077881665163, -0, 0.027639274073, 0.05158471319, 0.03433386177, -0,
                 0.545337530806, 0, -0.27400170657, -0.106332633043, -0.164828192744, 0});
    check_parts(fft_fftn(z, 2), {2, 2, 2},
                {0.644217687238, 0.295520206661, -0.644217687238, -0.295520206661, 1.198197516805,
                 1.715365995595, 0.528221216493, -0.14871217634});
    check_parts(fft_ifftn(x, {}, 0), {2, 4, 2},
                {0.167494075078, 0, 0.146717229774, 0, 0.056936978787, 0, -0.059621622988, 0,
                 -0.167494075078, 0, 0.497500457464, 0, 0.928512751201, 0, 0.922830989637, 0});
    check_parts(fft_rfftn(x, {}, IntArrayRef{1, 0}, "forward"), {2, 4, 2},
                {0.077881665163, 0, 0.027639274073, -0.05158471319, 0.03433386177, 0,
                 0.027639274073, 0.05158471319, 0.545337530806, 0, -0.27400170657, 0.106332633043,
                 -0.164828192744, 0, -0.27400170657, -0.106332633043});
    check_parts(fft_irfftn(z, IntArrayRef{3, -1}), {3, 4},
                {0.288023961978, -0.185547976742, -0.03837798382, 0.223638454134, -0.122824347372,
                 -0.137182404598, -0.012675709502, -0.097312767371, 0.40327166151, -0.071392154488,
                 -0.024692717799, -0.224928015929});
    check_parts(fft_hfftn(z), {2, 4},
                {3.456287543735, 2.683661449607, -0.460535805839, -2.226575720907, 1.091482665193,
                 -3.472480082939, -0.145435483134, -0.926404565715});
    check_parts(fft_ihfftn(x, IntArrayRef{3, 3}, {}, "ortho"), {3, 2, 2},
                {0.247432189093, -0, 0.043777980531, 0.051834652075, 0.691117614067,
                 -0.256161899544, -0.559503980753, 0.099459938932, 0.691117614067, 0.256161899544,
                 -0.299107708391, -0.446810208614});
  });
}

TEST_CASE("short names are those of libtorch") {
  const Tensor x = wave(kCPU, {4, 4});
#define SAME(name) CHECK(parts(fft::name(x)).equal(parts(fft_##name(x))));
  SAME(fft)
  SAME(ifft)
  SAME(rfft)
  SAME(irfft)
  SAME(hfft)
  SAME(ihfft)
  SAME(fft2)
  SAME(ifft2)
  SAME(rfft2)
  SAME(irfft2)
  SAME(hfft2) SAME(ihfft2) SAME(fftn) SAME(ifftn) SAME(rfftn) SAME(irfftn) SAME(hfftn) SAME(ihfftn)
#undef SAME
}

TEST_CASE("dtypes of transforms are PyTorch's") {
  for_each_device([](Device d) {
    CHECK(fft_fft(ones({3}, d)).dtype() == kComplexFloat);
    CHECK(fft_rfft(ones({3}, TensorOptions(kFloat64).device(d))).dtype() == kComplexDouble);
    CHECK(fft_fft(ones({3}, TensorOptions(kInt64).device(d))).dtype() == kComplexFloat);
    CHECK(fft_fft(ones({3}, TensorOptions(kBool).device(d))).dtype() == kComplexFloat);
    CHECK(fft_irfft(fft_rfft(ones({3}, d))).dtype() == kFloat32);
    for (const DType dtype : {kHalf, kBFloat16}) {
      const Tensor x = ones({4}, TensorOptions(dtype).device(d));
      CHECK_THROWS_AS(fft_fft(x), DTypeError);
      CHECK_THROWS_AS(fft_rfftn(x), DTypeError);
      CHECK_THROWS_AS(fft_hfft(x), DTypeError);
      CHECK_THROWS_AS(stft(x, 4, {}, {}, {}, true, "reflect", false, {}, true), DTypeError);
    }
  });
  CHECK(fft_fft(empty({3, 4}, kMeta), 6).sizes() == IntArrayRef{3, 6});
  CHECK(fft_irfftn(empty({3, 4}, kMeta)).sizes() == IntArrayRef{3, 6});
}

TEST_CASE("transforms without dims or lines are PyTorch's") {
  const Tensor x = wave(kCPU, {3, 4});
  // torch.fft.fftn(x, dim=()) is a copy, torch.fft.fft(x[:0]) is empty, fftn(torch.ones(())) 1
  const Tensor copy = fft_fftn(x, {}, IntArrayRef{}, "forward");
  CHECK(real(copy).equal(x));
  CHECK(copy.data_ptr() != x.data_ptr());
  CHECK(fft_fft(x.narrow(0, 0, 0)).sizes() == IntArrayRef{0, 4});
  CHECK(fft_rfft(x.narrow(0, 0, 0)).sizes() == IntArrayRef{0, 3});
  CHECK(fft_irfft(x.narrow(0, 0, 0)).sizes() == IntArrayRef{0, 6});
  CHECK(fft_fftn(ones({})).item<std::complex<double>>() == 1.);
  CHECK(fft_irfft(full({1}, 3.), 1).item<double>() == 3);
}

TEST_CASE("transforms of real numbers are parts of transforms of complex ones") {
  manual_seed(3);
  for_each_device([](Device d) {
    std::vector<int64_t> lengths{127, 128, 509, 1000};
    for (int64_t n = 1; n <= 64; ++n) lengths.push_back(n);
    for (const int64_t n : lengths) {
      INFO(n);
      const TensorOptions o = TensorOptions(kFloat64).device(d);
      const Tensor x = randn({3, n}, o);
      const Tensor half = fft_rfft(x), all = view_as_real(fft_fft(x));
      // Sums of n terms up to 4, in float64: 1e3 * 4 * 2^-53 = 4e-13.
      CHECK(view_as_real(half).allclose(all.narrow(1, 0, n / 2 + 1), 1e-12, 1e-12));
      CHECK(fft_irfft(half, n).allclose(x, 1e-12, 1e-12));
      CHECK(fft_hfft(fft_ihfft(x), n).allclose(x, 1e-12, 1e-12));
      CHECK(view_as_real(fft_ifft(fft_fft(x))).select(-1, 0).allclose(x, 1e-12, 1e-12));
      const Tensor columns = x.t().contiguous();
      CHECK(fft_irfft(fft_rfft(columns, {}, 0), n, 0).allclose(columns, 1e-12, 1e-12));
    }
  });
}

TEST_CASE("imaginary parts without a counterpart do not count in real results") {
  for_each_device([](Device d) {
    for (const int64_t n : {1, 2, 5, 6}) {
      const int64_t m = n / 2 + 1;
      const Tensor re = wave(d, {m}), im = wave(d, {m}, 0.3), other = im.clone();
      other[0].fill_(7);
      if (n % 2 == 0) other[m - 1].fill_(9);
      CHECK(fft_irfft(made_of(re, im), n).allclose(fft_irfft(made_of(re, other), n), 1e-12, 1e-12));
    }
  });
}

TEST_CASE("gradients of transforms are PyTorch's") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 4}), z = made_of(wave(d, {2, 3}), wave(d, {2, 3}, 0.3));
    check_gradients([](const Tensor& t) { return fft_fft(t); }, x,
                    {2.038813519175, -0.296548834306, -0.604101337376, -1.138163347493,
                     2.919322360574, -0.343265973269, 0.430751206611, 0.99148681825},
                    {2.18455442074, 0, -0.973847630878, -0.355947029394, -0.236859158983, 0,
                     -0.973847630878, 0.355947029394, -2.176001148032, 0, 0.330244044261,
                     0.994344018149, -0.25456871367, 0, 0.330244044261, -0.994344018149});
    check_gradients([](const Tensor& t) { return fft_ifft(t); }, z,
                    {0.368924811069, 0.534927596333, -0.264375913326, -0.073461659056,
                     -0.104548897743, -0.262796606482, 0.946970038611, 0.922597921562,
                     0.040267311404, 0.005365416893, -0.055198264049, 0.057486391533},
                    {0.177109062528, 0.077725557399, -0.494117114001, 0.761670920562,
                     0.317008051473, -0.056069568333, 0.144340620512, 0.176389272518,
                     -0.870614861439, 0.030356132207, -0.046490246628, -0.189931504241});
    check_gradients([](const Tensor& t) { return fft_rfft(t); }, x,
                    {1.106774433208, -1.281998564295, 0.327937748591, -0.152713617504,
                     2.840910115834, -0.951105971737, 0.841762909751, 0.99658929002},
                    {2.18455442074, 0, -0.973847630878, -0.355947029394, -0.236859158983, 0,
                     -2.176001148032, 0, 0.330244044261, 0.994344018149, -0.25456871367, 0});
    check_gradients([](const Tensor& t) { return fft_irfft(t); }, z,
                    {0.288182536625, 0, -0.194709171154, 0.1829865713, -0.09347336547, 0,
                     0.869078972916, 0, -0.107341497534, 0.07198937259, -0.044381384482, 0},
                    {0.376293704615, -0.103059829293, -0.597553926263, 0.324320050941,
                     0.306672431346, -0.781165648622, -0.486995432503, 0.188724162223});
    check_gradients([](const Tensor& t) { return fft_hfft(t); }, z,
                    {1.152730146499, -0, -0.778836684617, -0.7319462852, -0.373893461881, -0,
                     3.476315891663, -0, -0.429365990135, -0.287957490361, -0.17752553793, -0},
                    {1.505174818462, 1.297280203763, -2.390215705051, -0.412239317173,
                     1.226689725384, 0.754896648892, -1.947981730013, -3.124662594488});
    check_gradients([](const Tensor& t) { return fft_ihfft(t); }, x,
                    {0.276693608302, -0.038178404376, 0.081984437148, -0.320499641074,
                     0.710227528959, 0.249147322505, 0.210440727438, -0.237776492934},
                    {0.546138605185, -0, -0.24346190772, 0.088986757348, -0.059214789746, -0,
                     -0.544000287008, -0, 0.082561011065, -0.248586004537, -0.063642178418, -0});
    check_gradients([](const Tensor& t) { return fft_irfftn(t); }, z,
                    {0.57863075477, 0, -0.151025334344, 0.127487971945, -0.068927374976, 0,
                     -0.290448218146, 0, -0.04368383681, 0.055498599355, -0.024545990494, 0},
                    {0.341483067981, -0.442112738958, -0.542274679383, 0.256522106582,
                     0.034810636635, 0.339052909664, -0.05527924688, 0.067797944359});
    check_gradients([](const Tensor& t) { return fft_rfftn(t); }, x,
                    {3.947684549043, -2.233104536031, 1.169700658342, 0.843875672515,
                     -1.734135682626, -0.330892592558, -0.513825161161, -1.149302907524},
                    {0.008553272708, 0, -0.643603586617, 0.638396988756, -0.491427872653, 0,
                     4.360555568771, 0, -1.304091675139, -1.350291047543, 0.017709554687, 0});
  });
}

TEST_CASE("transforms have correct first and second gradients") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {3, 4}), pairs = wave(d, {3, 4, 2});
    const auto check = [&](auto f) {
      const auto of_real = [&](const std::vector<Tensor>& in) { return parts(f(in[0])); };
      gradcheck(of_real, {x});
      gradgradcheck(of_real, {x});
    };
    const auto check_complex = [&](auto f) {
      const auto of_pairs = [&](const std::vector<Tensor>& in) {
        return parts(f(view_as_complex(in[0].contiguous())));
      };
      gradcheck(of_pairs, {pairs});
      gradgradcheck(of_pairs, {pairs});
    };
    for (const int64_t n : {3, 4, 7}) {
      check([=](const Tensor& t) { return fft_rfft(t, n, 0); });
      check([=](const Tensor& t) { return fft_ihfft(t, n, 1, "ortho"); });
      check_complex([=](const Tensor& t) { return fft_irfft(t, n, 0); });
      check_complex([=](const Tensor& t) { return fft_hfft(t, n, 1, "forward"); });
      check_complex([=](const Tensor& t) { return fft_fft2(t, IntArrayRef{2, n}); });
    }
    check([](const Tensor& t) { return fft_rfft2(t); });
    check_complex([](const Tensor& t) { return fft_hfft2(t); });
    check([](const Tensor& t) { return stft(t, 2, 1, {}, {}, true, "reflect", true, {}, true); });
    check_complex([](const Tensor& t) { return istft(t, 4, 1); });
  });
}
TEST_CASE("transforms with a given output write it") {
  const Tensor x = wave(kCPU, {3, 4});
  Tensor out = empty({0}, kComplexDouble), numbers = empty({0}, kFloat64);
  CHECK(parts(fft_fft_out(out, x, 3, 0, "ortho")).equal(parts(fft_fft(x, 3, 0, "ortho"))));
  CHECK(parts(fft_rfftn_out(out, x)).equal(parts(fft_rfftn(x))));
  CHECK(fft_irfft2_out(numbers, x).equal(fft_irfft2(x)));
  CHECK_THROWS_AS(fft_fft_out(numbers, x), DTypeError);
}
