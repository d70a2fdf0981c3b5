// torch::fft is ambit's: frequencies and shifts. Not supported by ambit: the transforms, whose
// results are complex.
#pragma once

#include <ambit/ops/fft.h>
#include <torch/lacks.h>

namespace ambit::fft {

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

}  // namespace ambit::fft
