// torch.fft's transforms and torch.stft compared with PyTorch 2.15: values, first and second
// gradients, over devices; long and prime lengths compared with the kernels of pairs.
#include <ambit/ambit.h>
#include <ambit/detail/fft.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/out.h>

#include <cmath>
#include <complex>
#include <vector>

#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;

namespace {

Tensor parts(const Tensor& t) { return t.is_complex() ? view_as_real(t) : t; }
Tensor made_of(const Tensor& re, const Tensor& im) { return view_as_complex(stack({re, im}, -1)); }

// Check values; complex numbers are given as pairs.
void check_parts(const Tensor& got, IntArrayRef sizes, const std::vector<double>& values) {
  check_values(parts(got), sizes, values);
}

// Check the gradient gx for grad_output = wave(k=0.2), and the gradient of sum(gx * wave(k=0.9))
// with respect to grad_output.
template <class F>
void check_gradients(F f, const Tensor& operand, const std::vector<double>& first,
                     const std::vector<double>& second) {
  const auto wave_like = [](const Tensor& t, double k) {
    const Tensor values = wave(t.device(), parts(t).sizes(), k);
    return t.is_complex() ? view_as_complex(values) : values;
  };
  const Tensor x = operand.clone().requires_grad_(), y = f(x);
  const Tensor g = wave_like(y.detach(), 0.2).clone().requires_grad_();
  const Tensor gx = autograd::grad({y}, {x}, {g}, true, true)[0];
  check_values(parts(gx.detach()), parts(x.detach()).sizes(), first);
  const Tensor gg = autograd::grad({gx}, {g}, {wave_like(x.detach(), 0.9)})[0];
  check_values(parts(gg), parts(y.detach()).sizes(), second);
}

}  // namespace

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

TEST_CASE("short-time transforms have PyTorch's values") {
  for_each_device([](Device d) {
    // S, s = wave(10); W, w = wave(4, k=.4) + 1
    const Tensor s = wave(d, {10}), w = wave(d, {4}, 0.4) + 1;
    // Y, y = torch.complex(wave(3, 4), wave(3, 4, k=.3)); Q, q: those of wave(4, 4)
    const Tensor y = made_of(wave(d, {3, 4}), wave(d, {3, 4}, 0.3));
    const Tensor q = made_of(wave(d, {4, 4}), wave(d, {4, 4}, 0.3));
    // torch.stft(S,4,2,return_complex=True)
    check_parts(stft(s, 4, 2, {}, {}, true, "reflect", false, {}, true), {3, 6, 2},
                {2.273885104464,
                 0,
                 2.492876783875,
                 0,
                 1.832864019104,
                 0,
                 -1.869823462572,
                 0,
                 -2.468481122426,
                 0,
                 -2.228171987885,
                 0,
                 0.985449729988,
                 0,
                 -0.985449729988,
                 0.218991679411,
                 0.650461579833,
                 -1.213992594338,
                 1.206563922569,
                 -0.631669384935,
                 -0.240309134541,
                 0.999266513109,
                 0,
                 -0.999266513109,
                 -0.302985644487,
                 0,
                 -0.521977323898,
                 0,
                 0.808011741185,
                 0,
                 0.796648218056,
                 0,
                 -0.537203698146,
                 0,
                 -0.296894563605,
                 0});
    // torch.stft(S,4,3,window=W,pad_mode="constant",normalized=True,onesided=False,return_complex=True)
    check_parts(stft(s, 4, 3, {}, w, true, "constant", true, false, true), {4, 4, 2},
                {0.622326875807,
                 0,
                 2.07153384024,
                 0,
                 -1.773669654853,
                 0,
                 -0.915335301882,
                 0,
                 0,
                 0.622326875807,
                 -0.419110088149,
                 -0.360995865416,
                 0.915897055795,
                 -0.705376098487,
                 -0.505664033516,
                 0.438546722774,
                 -0.622326875807,
                 0,
                 0.055121710534,
                 0,
                 0.611851843574,
                 0,
                 -0.038241856334,
                 0,
                 0,
                 -0.622326875807,
                 -0.419110088149,
                 0.360995865416,
                 0.915897055795,
                 0.705376098487,
                 -0.505664033516,
                 -0.438546722774});
    // torch.stft(S,4,6,window=W,pad_mode="replicate",return_complex=False)
    check_parts(stft(s, 4, 6, {}, w, true, "replicate", false, {}, false), {3, 2, 2},
                {1.244653751615, 0, -3.547339309706, 0, 0, 1.244653751615, 1.831794111591,
                 -1.410752196975, -1.244653751615, 0, 1.223703687148, 0});
    // torch.stft(S,6,5,4,window=W,pad_mode="circular",return_complex=True)
    check_parts(stft(s, 6, 5, 4, w, true, "circular", false, {}, true), {4, 3, 2},
                {0.636748655481,  0,
                 -0.957690124412, 0,
                 0.636748655481,  0,
                 -0.949640965613, 1.604363024156,
                 1.643264285184,  -2.608959124454,
                 -0.949640965613, 1.604363024156,
                 -0.318374327741, -0.510977134238,
                 -0.424784506781, 1.113836643849,
                 -0.318374327741, -0.510977134238,
                 1.899281931226,  0,
                 -1.479269432393, 0,
                 1.899281931226,  0});
    // torch.stft(S,5,5,3,center=False,return_complex=True)
    check_parts(
        stft(s, 5, 5, 3, {}, false, std::nullopt, true), {3, 2, 2},
        {2.492876783875, 0, -2.48529502291, 0, -1.296522412552, -0.684538512166, 1.036194572241,
         1.03533975457, 0.050084020615, -0.262404161716, 0.206452939215, 0.178301675561});
    // torch.stft(S,4,4,2,center=False,return_complex=True,align_to_window=True)
    check_parts(stft(s, 4, 4, 2, {}, false, "reflect", false, {}, true, true), {3, 3, 2},
                {0.644217687238, 0, -0.015795077534, 0, -0.614452737388, 0, -0.644217687238, 0,
                 0.35078322769, -0.334988150156, -0.016813900484, 0.631266637872, 0.644217687238, 0,
                 -0.685771377846, 0, 0.648080538357, 0});
    // torch.stft(torch.complex(S,S.flip(0)),4,5)
    check_parts(stft(made_of(s, s.flip({0})), 4, 5), {4, 3, 2},
                {2.273885104464,
                 -2.228171987885,
                 -0.024161483298,
                 -0.024161483298,
                 -2.228171987885,
                 2.273885104464,
                 0.985449729988,
                 -0.999266513109,
                 0,
                 -2.413127845139,
                 -0.985449729988,
                 -0.999266513109,
                 -0.302985644487,
                 0.296894563605,
                 1.049013761217,
                 -1.049013761217,
                 -0.296894563605,
                 0.302985644487,
                 0.985449729988,
                 -0.999266513109,
                 2.427985188677,
                 0,
                 0.985449729988,
                 0.999266513109});
    // torch.istft(Y,4,2)
    check_parts(istft(y, 4, 2), {6},
                {-0.16772222573, 0.140969827919, 0.157735353373, 0.125395203684, 0.409007531101,
                 0.053097599063});
    // torch.istft(Y,4,2,window=W,center=False,normalized=True,onesided=True,length=12)
    check_parts(
        istft(y, 4, 2, {}, w, false, true, true, 12), {12},
        {0.01935483122, -0.443643032671, -0.288054272004, 0.257886378112, 0.283511516056,
         0.248688673693, 0.721737408125, 0.161151837737, 1.11109246533, 0.414448102448, 0, 0});
    // torch.istft(Q,4,1,3,onesided=False,return_complex=True)
    check_parts(istft(q, 4, 1, 3, {}, true, false, false, {}, true), {3, 2},
                {-0.206194135676, 0.016019801182, -0.069584549252, 0.070238128843, 0.114349109854,
                 0.180225796764});
    // torch.istft(Q,4,2,window=W)
    check_parts(istft(q, 4, 2, {}, w), {6},
                {-0.144027136002, 0.128943189056, 0.141755758028, 0.124344336847, 0.360868704063,
                 0.080575918868});
    // torch.stft throws for an odd difference of n_fft and win_length: findings/README.md.
    const Tensor odd = stft(s, 5, 4, 2, {}, false, "reflect", false, {}, true, true);
    REQUIRE(odd.sizes() == IntArrayRef{3, 3});
    const Tensor ends = zeros({2}, s.options());
    CHECK(fft_irfft(odd, 5, 0).select(1, 2).allclose(
        cat({ends.narrow(0, 0, 1), s.narrow(0, 8, 2), ends}), 1e-12, 1e-12));
    // A batch, methods, and the other signature
    const Tensor both = stack({s, s * 2}),
                 out = both.stft(4, 2, {}, w, true, "reflect", false, {}, true);
    CHECK(view_as_real(out[0]).equal(
        view_as_real(s.stft(4, 2, {}, w, true, "reflect", false, {}, true))));
    CHECK(out.istft(4, 2, {}, w, true, false, {}, 9).sizes() == IntArrayRef{2, 9});
    CHECK(view_as_real(both.stft(4, 2, {}, w, true, true, true))
              .equal(view_as_real(stft(both, 4, 2, {}, w, false, "constant", true, {}, true))));
  });
}

TEST_CASE("signals and windows are on one device") {
  const Tensor x = ones({9}), y = ones({3, 4}, kComplexFloat), w = ones({4}, "reference");
  CHECK_THROWS_WITH_AS(stft(x, 4, 1, {}, w, true, "reflect", false, {}, true),
                       doctest::Contains("expected device cpu but got device reference:0"),
                       DeviceMismatchError);
  CHECK_THROWS_WITH_AS(istft(y, 4, 1, {}, w),
                       doctest::Contains("expected device cpu but got device reference:0"),
                       DeviceMismatchError);
}

TEST_CASE("istft is the inverse of stft") {
  manual_seed(4);
  for_each_device([](Device d) {
    const TensorOptions o = TensorOptions(kFloat64).device(d);
    const Tensor x = randn({2, 50}, o);
    for (const int64_t n : {6, 7, 16}) {
      INFO(n);
      const Tensor w = hann_window(n, o);
      for (const bool normalized : {false, true}) {
        const Tensor y = stft(x, n, 2, {}, w, true, "reflect", normalized, {}, true);
        // Sums of 16 terms of size 4, in float64: 64 * 2^-53 = 7e-15.
        CHECK(istft(y, n, 2, {}, w, true, normalized, {}, 50).allclose(x, 1e-12, 1e-12));
      }
      const Tensor all = stft(made_of(x, x.flip({1})), n, 3, {}, hamming_window(n, o));
      const Tensor back = istft(all, n, 3, {}, hamming_window(n, o), true, false, false, 50, true);
      CHECK(view_as_real(back).select(-1, 0).allclose(x, 1e-12, 1e-12));
    }
    CHECK(istft(stft(x, 4, 1, {}, {}, true, "reflect", false, {}, true), 4, 1, {}, {}, true, false,
                {}, 60)
              .narrow(1, 52, 8)
              .equal(zeros({2, 8}, o)));
  });
}

TEST_CASE("gradients of short-time transforms are PyTorch's") {
  for_each_device([](Device d) {
    const Tensor s = wave(d, {10}), w = wave(d, {4}, 0.4) + 1;
    const Tensor y = made_of(wave(d, {3, 4}), wave(d, {3, 4}, 0.3));
    check_gradients(
        [&](const Tensor& t) { return stft(t, 4, 3, {}, w, true, "reflect", false, {}, true); }, s,
        {-1.816873006252, 1.578512483824, 0.973770734852, -1.652782690967, 3.805401680104,
         1.331975917654, -1.227754330173, 4.159525968929, 6.333008566331, -0.608890556514},
        {3.575634613629,  0,
         2.015405318246,  0,
         -3.09534540555,  0,
         4.318594096606,  0,
         0.973847630878,  0.42504943023,
         0.04936346918,   -2.208048553741,
         0.88459135624,   1.390683388566,
         -1.648832273672, 0.4306606465,
         -1.627939351872, 0,
         1.019175381904,  0,
         -0.44391908011,  0,
         -0.953673947325, 0});
    check_gradients([&](const Tensor& t) { return istft(t, 4, 2, {}, w); }, y,
                    {0.016944172767,
                     0,
                     0.102677328598,
                     0,
                     0.20903635193,
                     0,
                     0.097021614211,
                     0,
                     0,
                     0.033888345534,
                     -0.084669174243,
                     0.071944141004,
                     -0.106668898521,
                     0.074270867542,
                     0.090820388622,
                     -0.1032228398,
                     -0.016944172767,
                     0,
                     -0.018008154356,
                     0,
                     -0.003763355294,
                     0,
                     -0.006201225589,
                     0},
                    {0.016333237454, 0.227913517791, -0.234835979071, 0.157696864303,
                     0.090377215254, -0.299571633583});
    const auto of_window = [&](const std::vector<Tensor>& in) {
      const Tensor z = stft(s, 4, 1, {}, in[0], true, "reflect", false, {}, true);
      return istft(z, 4, 1, {}, in[0] + 1) + parts(z).sum();
    };
    gradcheck(of_window, {w});
    gradgradcheck(of_window, {w});
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

namespace {

Tensor complex_ones(IntArrayRef sizes) { return ones(sizes, kComplexFloat); }
constexpr std::nullopt_t kNone = std::nullopt;
Tensor stft_of(const Tensor& x, int64_t n_fft, std::optional<int64_t> hop,
               std::optional<int64_t> win, const std::optional<Tensor>& window,
               std::string_view mode = "reflect") {
  return stft(x, n_fft, hop, win, window, true, mode, false, {}, true);
}
Tensor stft_onesided(const Tensor& x) {
  return stft(x, 4, {}, {}, {}, true, "reflect", false, true);
}
Tensor stft_aligned(const Tensor& x) {
  return stft(x, 4, {}, {}, {}, true, "reflect", false, {}, true, true);
}

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  const auto renamed = [](BadCall call, const char* function) {
    call.function = function;
    return call;
  };
#define OF_LINE(f)                                                                            \
  DTYPE(f, ones({3}, kHalf)), SHAPE(f, m23(), 0), SHAPE(f, m23(), -1), INDEX(f, m23(), 3, 2), \
      INDEX(f, ones({})), VALUE(f, m23(), 3, 1, "other"), VALUE(f, none())
#define OF_DIMS(f)                                                                    \
  DTYPE(f, ones({3, 3}, kBFloat16)), SHAPE(f, m23(), IntArrayRef{0, 2}),              \
      SHAPE(f, m23(), IntArrayRef{-2, 2}), INDEX(f, m23(), {}, IntArrayRef{0, 2}),    \
      VALUE(f, m23(), {}, IntArrayRef{1, -1}), SHAPE(f, m23(), IntArrayRef{2, 2}, 0), \
      SHAPE(f, m23(), IntArrayRef{2, 2, 2}, IntArrayRef{0, 1, 1}), VALUE(f, none()),  \
      VALUE(f, m23(), {}, IntArrayRef{0, 1}, "other")
  return {
      OF_LINE(fft_fft),
      OF_LINE(fft_ifft),
      OF_LINE(fft_rfft),
      OF_LINE(fft_irfft),
      OF_LINE(fft_hfft),
      OF_LINE(fft_ihfft),
      OF_DIMS(fft_fft2),
      OF_DIMS(fft_ifft2),
      OF_DIMS(fft_rfft2),
      OF_DIMS(fft_irfft2),
      OF_DIMS(fft_hfft2),
      OF_DIMS(fft_ihfft2),
      OF_DIMS(fft_fftn),
      OF_DIMS(fft_ifftn),
      OF_DIMS(fft_rfftn),
      OF_DIMS(fft_irfftn),
      OF_DIMS(fft_hfftn),
      OF_DIMS(fft_ihfftn),
      SHAPE(fft_irfft, ones({3, 1})),
      SHAPE(fft_hfft2, ones({3, 1})),
      SHAPE(fft_rfftn, ones({})),
      SHAPE(fft_irfftn, m23(), {}, IntArrayRef{}),
      SHAPE(fft_hfftn, m23(), IntArrayRef{}),
      SHAPE(fft_ihfftn, ones({})),
      DTYPE(fft_rfft, complex_ones({3})),
      DTYPE(fft_ihfft, complex_ones({3})),
      DTYPE(fft_rfft2, complex_ones({3, 3})),
      DTYPE(fft_ihfftn, complex_ones({3, 3})),
      DTYPE(stft, i23(), 2),
      VALUE(stft, ones({9}), 4),
      VALUE(stft, none(), 4),
      renamed(SHAPE(stft_of, ones({}), 4, kNone, kNone, kNone), "stft"),
      renamed(SHAPE(stft_of, ones({2, 2, 9}), 4, kNone, kNone, kNone), "stft"),
      renamed(SHAPE(stft_of, ones({2}), 4, kNone, kNone, kNone), "stft"),
      renamed(SHAPE(stft_of, ones({1}), 4, kNone, kNone, kNone, "circular"), "stft"),
      renamed(SHAPE(stft_of, ones({0}), 4, kNone, kNone, kNone, "replicate"), "stft"),
      renamed(SHAPE(stft_of, ones({0}), 5, kNone, kNone, kNone, "constant"), "stft"),
      renamed(VALUE(stft_of, ones({9}), 0, kNone, kNone, kNone), "stft"),
      renamed(VALUE(stft_of, ones({9}), 3, kNone, kNone, kNone), "stft"),
      renamed(VALUE(stft_of, ones({9}), 4, 0, kNone, kNone), "stft"),
      renamed(VALUE(stft_of, ones({9}), 4, 1, 5, kNone), "stft"),
      renamed(VALUE(stft_of, ones({9}), 4, 1, 0, kNone), "stft"),
      renamed(SHAPE(stft_of, ones({9}), 4, 1, kNone, ones({3})), "stft"),
      renamed(SHAPE(stft_of, ones({9}), 4, 1, kNone, ones({1, 4})), "stft"),
      renamed(VALUE(stft_of, ones({9}), 4, 1, kNone, kNone, "other"), "stft"),
      renamed(DEVICE(stft_of, ones({9}), 4, 1, kNone, ones({4}, "reference")), "stft"),
      renamed(VALUE(stft_onesided, complex_ones({9})), "stft"),
      renamed(VALUE(stft_aligned, ones({9})), "stft"),
      DTYPE(istft, m23(), 2),
      VALUE(istft, none(), 2),
      SHAPE(istft, complex_ones({3}), 4),
      SHAPE(istft, complex_ones({2, 2, 3, 4}), 4),
      SHAPE(istft, complex_ones({3, 0}), 4),
      SHAPE(istft, complex_ones({3, 4}), 6),
      SHAPE(istft, complex_ones({4, 4}), 4, 1, kNone, kNone, true, false, true),
      VALUE(istft, complex_ones({3, 4}), 4, 0),
      VALUE(istft, complex_ones({3, 4}), 4, 3, 2),
      VALUE(istft, complex_ones({3, 4}), 4, 1, 5),
      SHAPE(istft, complex_ones({3, 4}), 4, 1, kNone, ones({3})),
      VALUE(istft, complex_ones({3, 4}), 4, 1, kNone, zeros({4})),
      DTYPE(istft, complex_ones({3, 4}), 4, 1, kNone, complex_ones({4})),
      VALUE(istft, complex_ones({3, 4}), 4, 1, kNone, kNone, true, false, kNone, 0),
      VALUE(istft, complex_ones({3, 4}), 4, 1, kNone, kNone, true, false, kNone, kNone, true),
      DEVICE(istft, complex_ones({3, 4}), 4, 1, kNone, ones({4}, "reference")),
  };
#undef OF_LINE
#undef OF_DIMS
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

// Transforms refuse float16 and bfloat16. The rows convert such operands to float32, and the
// results back.
Tensor wide(const Tensor& x) { return is_reduced_floating(x.dtype()) ? x.to(kFloat32) : x; }
Tensor numbers(const Tensor& out, const Tensor& like) { return parts(out).to(like.dtype()); }

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
#define OF_REAL(f) full_only(RESULT(f, numbers(f(MADE(wide(o.a))), o.a)))
#define OF_PAIRS(f) full_only(RESULT(f, numbers(f(MADE(made_of(wide(o.a), wide(o.unit)))), o.a)))
  return {
      OF_PAIRS(fft_fft),
      OF_PAIRS(fft_ifft),
      OF_PAIRS(fft_irfft),
      OF_PAIRS(fft_hfft),
      OF_REAL(fft_rfft),
      OF_REAL(fft_ihfft),
      OF_PAIRS(fft_fft2),
      OF_PAIRS(fft_ifft2),
      OF_PAIRS(fft_irfft2),
      OF_PAIRS(fft_hfft2),
      OF_REAL(fft_rfft2),
      OF_REAL(fft_ihfft2),
      OF_PAIRS(fft_fftn),
      OF_PAIRS(fft_ifftn),
      OF_PAIRS(fft_irfftn),
      OF_PAIRS(fft_hfftn),
      OF_REAL(fft_rfftn),
      OF_REAL(fft_ihfftn),
      full_only(RESULT(
          stft, numbers(stft(MADE(wide(o.a)), 3, 1, kNone, MADE(hann_window(3, o.a.device())), true,
                             "reflect", false, kNone, true),
                        o.a))),
      full_only(RESULT(
          istft,
          numbers(istft(MADE(made_of(wide(o.a), wide(o.unit))), 2 * o.a.size(-2) - 2, 1), o.a))),
  };
#undef OF_REAL
#undef OF_PAIRS
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
