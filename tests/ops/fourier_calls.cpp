// Calls of Fourier transforms for the table tests: wrong ones, and calls that agree over devices.
#include <ambit/ambit.h>

#include "fourier_cases.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;
using namespace fourier;

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
