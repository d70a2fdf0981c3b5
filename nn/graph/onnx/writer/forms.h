// The forms of ambit's functions in ONNX: each row writes the nodes of one call. Private to
// nn/graph/onnx.
#pragma once

#include <span>
#include <string_view>

#include "site.h"

namespace ambit::graph::onnx {

struct Form {
  const char* function;  ///< as in the table of functions: "add.Tensor"
  void (*write)(Site&);
};

// The families.
extern const std::span<const Form> kElementwiseForms, kMapForms, kActivationForms, kShapeForms,
    kPartForms, kPaddingForms, kIndexForms, kCreationForms, kReduceForms, kProductForms,
    kConvolutionForms, kPoolForms, kResizeForms, kNormForms, kLossForms, kRecurrentForms,
    kAttentionForms, kSizeForms;

/// Return the form of a function, or null. An in-place function has the form of the function that
/// returns a new tensor.
const Form* find_form(std::string_view function);
/// True for a function that changes its first argument.
bool is_in_place(std::string_view function);

// Forms that several families use.
/// log(1 + e^x), without overflow.
Ref softplus(Emitter& e, const Ref& x);
Ref softmax(Emitter& e, const Ref& x, int64_t dim);
/// Return x with a batch dim, which is added unless x already has `rank` dims.
Ref with_batch(Site& s, const Ref& x, int64_t rank);
/// Undo with_batch().
void give_without_batch(Site& s, const Ref& y, int64_t rank);

}  // namespace ambit::graph::onnx
