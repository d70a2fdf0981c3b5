// Not supported by ambit: torch::fft.
#pragma once

#include <torch/lacks.h>

namespace torch::fft {

AMBIT_TORCH_LACKS_FUNCTION(fft, "ambit has no complex tensors, and no fft");
AMBIT_TORCH_LACKS_FUNCTION(ifft, "ambit has no complex tensors, and no fft");
AMBIT_TORCH_LACKS_FUNCTION(rfft, "ambit has no complex tensors, and no fft");
AMBIT_TORCH_LACKS_FUNCTION(irfft, "ambit has no complex tensors, and no fft");
AMBIT_TORCH_LACKS_FUNCTION(hfft, "ambit has no complex tensors, and no fft");
AMBIT_TORCH_LACKS_FUNCTION(ihfft, "ambit has no complex tensors, and no fft");
AMBIT_TORCH_LACKS_FUNCTION(fft2, "ambit has no complex tensors, and no fft");
AMBIT_TORCH_LACKS_FUNCTION(ifft2, "ambit has no complex tensors, and no fft");
AMBIT_TORCH_LACKS_FUNCTION(rfft2, "ambit has no complex tensors, and no fft");
AMBIT_TORCH_LACKS_FUNCTION(irfft2, "ambit has no complex tensors, and no fft");
AMBIT_TORCH_LACKS_FUNCTION(fftn, "ambit has no complex tensors, and no fft");
AMBIT_TORCH_LACKS_FUNCTION(ifftn, "ambit has no complex tensors, and no fft");
AMBIT_TORCH_LACKS_FUNCTION(rfftn, "ambit has no complex tensors, and no fft");
AMBIT_TORCH_LACKS_FUNCTION(irfftn, "ambit has no complex tensors, and no fft");
AMBIT_TORCH_LACKS_FUNCTION(fftfreq, "ambit has no complex tensors, and no fft");
AMBIT_TORCH_LACKS_FUNCTION(rfftfreq, "ambit has no complex tensors, and no fft");
AMBIT_TORCH_LACKS_FUNCTION(fftshift, "ambit has no complex tensors, and no fft");
AMBIT_TORCH_LACKS_FUNCTION(ifftshift, "ambit has no complex tensors, and no fft");

}  // namespace torch::fft
