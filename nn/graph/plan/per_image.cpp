#include "per_image.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "fused.h"

namespace ambit::graph {
namespace {

using Kind = Argument::Kind;

enum class Role : uint8_t {
  shared,  // the same for all images
  images,  // a batch: dim 0 is the dim of the images
  mixed,   // depends on several images
};

struct Operand {
  const Tensor* tensor;
  Role role;
};

// Describes how a function uses dim 0 of its operands.
enum class Rule : uint8_t {
  elementwise,  // operands broadcast
  layer,        // as `rows`, if the first operand has as many dims as the weight
  rows,         // the first operand is a batch of at least two dims; the others are parameters
  dim,          // works along one dim or a list of dims: argument 1
  dims,         // works along two dims: arguments 1 and 2
  view,         // reshapes: the sizes, argument 1, are replaced
  lists,        // argument 0 is a list of batches, argument 1 the dim along which it works
  batches,      // all operands are batches of at least three dims
};

struct Row {
  std::string_view name;
  Rule rule;
};

constexpr Row kRows[] = {
    {"conv1d.default", Rule::layer},
    {"conv2d.default", Rule::layer},
    {"conv3d.default", Rule::layer},
    {"conv1d.padding", Rule::layer},
    {"conv2d.padding", Rule::layer},
    {"convolution.default", Rule::layer},
    {"plan.convolution_map", Rule::layer},
    {"conv_transpose1d.default", Rule::layer},
    {"conv_transpose2d.input", Rule::layer},
    {"conv_transpose3d.input", Rule::layer},
    {"linear.default", Rule::rows},
    {"plan.linear_map", Rule::rows},
    {"mm.default", Rule::rows},
    {"max_pool1d.default", Rule::rows},
    {"max_pool2d.default", Rule::rows},
    {"max_pool3d.default", Rule::rows},
    {"avg_pool1d.default", Rule::rows},
    {"avg_pool2d.default", Rule::rows},
    {"avg_pool3d.default", Rule::rows},
    {"adaptive_avg_pool1d.default", Rule::rows},
    {"adaptive_avg_pool2d.default", Rule::rows},
    {"adaptive_avg_pool3d.default", Rule::rows},
    {"upsample_nearest1d.vec", Rule::rows},
    {"upsample_nearest2d.vec", Rule::rows},
    {"upsample_nearest3d.vec", Rule::rows},
    {"upsample_linear1d.vec", Rule::rows},
    {"upsample_bilinear2d.vec", Rule::rows},
    {"upsample_trilinear3d.vec", Rule::rows},
    {"upsample_nearest2d.default", Rule::rows},
    {"upsample_bilinear2d.default", Rule::rows},
    {"pixel_shuffle.default", Rule::rows},
    {"pixel_unshuffle.default", Rule::rows},
    {"group_norm.default", Rule::rows},
    {"softmax.int", Rule::dim},
    {"_softmax.default", Rule::dim},
    {"log_softmax.int", Rule::dim},
    {"_log_softmax.default", Rule::dim},
    {"mean.dim", Rule::dim},
    {"sum.dim_IntList", Rule::dim},
    {"amax.default", Rule::dim},
    {"amin.default", Rule::dim},
    {"slice.Tensor", Rule::dim},
    {"select.int", Rule::dim},
    {"squeeze.dim", Rule::dim},
    {"unsqueeze.default", Rule::dim},
    {"flatten.using_ints", Rule::dim},
    {"transpose.int", Rule::dims},
    {"view.default", Rule::view},
    {"reshape.default", Rule::view},
    {"_unsafe_view.default", Rule::view},
    {"cat.default", Rule::lists},
    {"scaled_dot_product_attention.default", Rule::batches},
    {"clone.default", Rule::elementwise},
    {"contiguous.default", Rule::elementwise},
    {"alias.default", Rule::elementwise},
    {"detach.default", Rule::elementwise},
    {"to.dtype", Rule::elementwise},
    {"_to_copy.default", Rule::elementwise},
};

std::optional<Rule> rule_of(const Function& function) {
  if (is_elementwise(function)) return Rule::elementwise;
  for (const Row& row : kRows) {
    if (row.name == function.name) return row.rule;
  }
  return {};
}

class Roles {
 public:
  Roles(const Program& program, const Trace& traced, const Mode& mode, int64_t images)
      : program_(program),
        traced_(traced),
        mode_(mode),
        images_(images),
        roles_(program.block.values.size()) {}

  std::optional<BatchProgram> run() {
    if (!program_.updates.empty()) return {};
    for (const Input& input : program_.inputs) {
      const Tensor& t = traced_.values[input.value].tensor;
      if (traced_.is_written(input.value)) return {};
      if (is_batch(t)) roles_[input.value] = Role::images;
    }
    BatchProgram out{program_};
    for (Node& node : out.program.block.nodes) {
      const Role role = role_of(node);
      if (role == Role::mixed) return {};
      for (const uint32_t v : node.outputs) {
        const bool writes_shared = role == Role::shared && traced_.is_written(v);
        if (writes_shared || (role == Role::images && !is_batch(traced_.values[v].tensor))) {
          return {};
        }
        roles_[v] = role;
      }
    }
    for (const Input& input : program_.inputs) {
      out.is_batch_input.push_back(roles_[input.value] == Role::images);
    }
    for (const Argument& a : program_.outputs) out.is_batch_output.push_back(is_images(a));
    return out;
  }

 private:
  static uint32_t index(const Argument& a) { return static_cast<uint32_t>(a.integer); }
  bool is_batch(const Tensor& t) const {
    return t.defined() && t.dim() > 0 && t.size(0) == images_;
  }

  Operand operand(const Argument& a) const {
    if (a.kind != Kind::value) return {nullptr, Role::shared};
    const Tensor& t = traced_.values[index(a)].tensor;
    return {t.defined() ? &t : nullptr, roles_[index(a)]};
  }
  bool is_images(const Argument& a) const { return operand(a).role == Role::images; }

  Role role_of(Node& node) {
    bool has_images = false, has_block = false;
    for (const Argument& a : node.arguments) {
      each_value(a, [&](uint32_t v) { has_images = has_images || roles_[v] == Role::images; });
      has_block = has_block || a.block;
    }
    if (has_block) return Role::mixed;
    if (!has_images) return Role::shared;
    const std::optional<Rule> rule = rule_of(*node.function);
    return (rule ? follows(*rule, node) : is_special(node)) ? Role::images : Role::mixed;
  }

  // True if no operand but the first depends on images.
  bool has_one_batch(const Node& node) const {
    for (size_t i = 1; i < node.arguments.size(); ++i) {
      bool found = false;
      each_value(node.arguments[i],
                 [&](uint32_t v) { found = found || roles_[v] == Role::images; });
      if (found) return false;
    }
    return is_images(node.arguments[0]);
  }

  bool follows(Rule rule, Node& node) {
    std::vector<Argument>& a = node.arguments;
    const Operand first = operand(a[0]);
    const int64_t dims = first.tensor ? first.tensor->dim() : 0;
    switch (rule) {
      case Rule::elementwise:
        return broadcasts(node);
      case Rule::layer:
        return has_one_batch(node) && operand(a[1]).tensor && dims == operand(a[1]).tensor->dim();
      case Rule::rows:
        return has_one_batch(node) && dims >= 2;
      case Rule::dim:
        return has_one_batch(node) && dims >= 2 && avoids_images(a[1], dims, node);
      case Rule::dims:
        return has_one_batch(node) && avoids_images(a[1], dims, node) &&
               avoids_images(a[2], dims, node);
      case Rule::view:
        return has_one_batch(node) && set_sizes(node);
      case Rule::lists:
        return all_are_batches(a[0].items) && avoids_images(a[1], dims_of(a[0].items[0]), node);
      case Rule::batches:
        return all_are_batches({a.begin(), a.begin() + 3}) && dims >= 3 && is_shared(a[3]) &&
               (a[4].kind != Kind::real || a[4].real == 0);
    }
    return false;
  }

  int64_t dims_of(const Argument& a) const {
    const Operand o = operand(a);
    return o.tensor ? o.tensor->dim() : 0;
  }
  bool is_shared(const Argument& a) const {
    const Operand o = operand(a);
    return o.role == Role::shared && !is_batch(o.tensor ? *o.tensor : Tensor());
  }
  bool all_are_batches(const std::vector<Argument>& list) const {
    return !list.empty() && std::all_of(list.begin(), list.end(), [&](const Argument& a) {
      return is_images(a) && dims_of(a) == dims_of(list[0]);
    });
  }

  // True if batches have all dims of the result, and other operands have fewer or size 1 along dim
  // 0.
  bool broadcasts(const Node& node) const {
    const Tensor& out = traced_.values[node.outputs[0]].tensor;
    if (!out.defined() || node.outputs.size() != 1) return false;
    if (traced_.is_written(node.outputs[0]) && !is_images(node.arguments[0])) return false;
    for (const Argument& a : node.arguments) {
      if (!a.items.empty()) return false;
      const Operand o = operand(a);
      if (!o.tensor) continue;
      const bool spans = o.tensor->dim() == out.dim();
      if (o.role == Role::images ? !spans : spans && o.tensor->size(0) != 1) return false;
    }
    return true;
  }

  // True if the dim in argument `a`, or each dim of a list, is not the dim of the images.
  bool avoids_images(const Argument& a, int64_t dims, const Node& node) const {
    if (node.function->name == std::string_view("unsqueeze.default")) ++dims;
    const auto avoids = [&](const Argument& one) {
      return one.kind == Kind::integer && one.integer != 0 && one.integer != -dims;
    };
    if (a.kind != Kind::list) return avoids(a);
    return !a.items.empty() && std::all_of(a.items.begin(), a.items.end(), avoids);
  }

  // Let a view infer the number of images: its first size becomes -1. Return false if dim 0 of the
  // result is not the dim of the images.
  bool set_sizes(Node& node) {
    const Tensor& from = *operand(node.arguments[0]).tensor;
    const Tensor& to = traced_.values[node.outputs[0]].tensor;
    if (!is_batch(to) || from.numel() == 0) return false;
    Argument& list = node.arguments[1];
    list.items.assign(1, Argument::of(Kind::integer, -1));
    for (int64_t d = 1; d < to.dim(); ++d) {
      list.items.push_back(Argument::of(Kind::integer, to.size(d)));
    }
    return true;
  }

  // Functions with rules of their own.
  bool is_special(Node& node) {
    const std::string_view name = node.function->name;
    const std::vector<Argument>& a = node.arguments;
    const int64_t dims = dims_of(a[0]);
    if (!has_one_batch(node) && name != "addmm.default") return false;
    const auto is_off = [&](size_t i) {
      return a[i].kind == Kind::flag && !mode_.training.value_or(a[i].integer != 0);
    };
    if (name == "batch_norm.default") return dims >= 2 && is_off(5) && a[3].kind == Kind::value;
    if (name == "_native_batch_norm_legit_no_training.default") {
      return dims >= 2 && node.outputs.size() == 1;
    }
    if (name == "dropout.default" || name == "dropout_.default") return is_off(2);
    if (name == "layer_norm.default") {
      return a[1].kind == Kind::list && static_cast<int64_t>(a[1].items.size()) < dims;
    }
    if (name == "permute.default") {
      return !a[1].items.empty() && a[1].items[0].kind == Kind::integer &&
             a[1].items[0].integer == 0;
    }
    if (name == "split.Tensor" || name == "chunk.default" || name == "split_with_sizes.default") {
      return avoids_images(a[2], dims, node);
    }
    return name == "addmm.default" && is_images(a[1]) && is_shared(a[0]) && dims_of(a[0]) == 1 &&
           operand(a[2]).role == Role::shared;
  }

  const Program& program_;
  const Trace& traced_;
  const Mode& mode_;
  const int64_t images_;
  std::vector<Role> roles_;  // by value
};

}  // namespace

std::optional<BatchProgram> for_any_batch(const Program& program, const Trace& traced,
                                          const Mode& mode, int64_t images) {
  return Roles(program, traced, mode, images).run();
}

}  // namespace ambit::graph
