// Tensor methods that call the functions of ops/fft.h.
#include <ambit/ops/fft.h>

namespace ambit {

Tensor Tensor::stft(int64_t n_fft, std::optional<int64_t> hop_length,
                    std::optional<int64_t> win_length, const std::optional<Tensor>& window,
                    bool center, std::string_view pad_mode, bool normalized,
                    std::optional<bool> onesided, std::optional<bool> return_complex,
                    std::optional<bool> align_to_window) const {
  return ambit::stft(*this, n_fft, hop_length, win_length, window, center, pad_mode, normalized,
                     onesided, return_complex, align_to_window);
}
Tensor Tensor::stft(int64_t n_fft, std::optional<int64_t> hop_length,
                    std::optional<int64_t> win_length, const std::optional<Tensor>& window,
                    bool normalized, std::optional<bool> onesided,
                    std::optional<bool> return_complex, std::optional<bool> align_to_window) const {
  return ambit::stft(*this, n_fft, hop_length, win_length, window, normalized, onesided,
                     return_complex, align_to_window);
}
Tensor Tensor::istft(int64_t n_fft, std::optional<int64_t> hop_length,
                     std::optional<int64_t> win_length, const std::optional<Tensor>& window,
                     bool center, bool normalized, std::optional<bool> onesided,
                     std::optional<int64_t> length, bool return_complex) const {
  return ambit::istft(*this, n_fft, hop_length, win_length, window, center, normalized, onesided,
                      length, return_complex);
}

}  // namespace ambit
