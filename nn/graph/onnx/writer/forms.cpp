#include "forms.h"

#include <string>
#include <unordered_map>

namespace ambit::graph::onnx {

bool is_in_place(std::string_view function) {
  const std::string_view name = function.substr(0, function.find('.'));
  return name.ends_with('_') && !name.ends_with("__") && !name.starts_with("_operator");
}

const Form* find_form(std::string_view function) {
  static const std::unordered_map<std::string_view, const Form*> kAll = [] {
    std::unordered_map<std::string_view, const Form*> all;
    for (const auto& family :
         {kElementwiseForms, kMapForms, kActivationForms, kShapeForms, kPartForms, kPaddingForms,
          kIndexForms, kCreationForms, kReduceForms, kProductForms, kConvolutionForms, kPoolForms,
          kResizeForms, kNormForms, kLossForms, kRecurrentForms, kAttentionForms, kSizeForms}) {
      for (const Form& f : family) all.emplace(f.function, &f);
    }
    return all;
  }();
  const auto exact = kAll.find(function);
  if (exact != kAll.end()) return exact->second;
  if (!is_in_place(function)) return nullptr;
  std::string other(function);
  other.erase(other.find('.') - 1, 1);
  const auto found = kAll.find(other);
  return found == kAll.end() ? nullptr : found->second;
}

}  // namespace ambit::graph::onnx
