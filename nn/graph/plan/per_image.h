// Programs that compute each image of a batch independently of the others, so that a batch can be
// computed in slices.
#pragma once

#include <optional>
#include <vector>

#include "trace.h"

namespace ambit::graph {

/// A program for any number of images.
struct BatchProgram {
  Program program{};
  std::vector<bool> is_batch_input{},
      is_batch_output{};  ///< true if dim 0 is the dim of the images
};

/// Return the program for any number of images, with the sizes of views adapted, if each of its
/// results for image i (along dim 0) depends on image i of its inputs only, or on no input.
/// `traced`: the trace of the program with `images` images. Inputs with a different size along dim
/// 0 are the same for all images.
std::optional<BatchProgram> for_any_batch(const Program& program, const Trace& traced,
                                          const Mode& mode, int64_t images);

}  // namespace ambit::graph
