// torch.stft and torch.istft compared with PyTorch 2.15: values, first and second gradients, over
// devices.
#include <ambit/ambit.h>
#include <ambit/ops/complex.h>

#include <cmath>
#include <vector>

#include "fourier_cases.h"
#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"

using namespace ambit;
using namespace fourier;

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
        // Sums of 16 terms of magnitude 4, in float64: 64 * 2^-53 = 7e-15.
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
