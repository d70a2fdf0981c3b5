// Source of the modes: Dropout and BatchNormalization of onnx.ai/onnx/operators, version 1.23.
#include "model_copy.h"

#include <utility>

#include "nn/graph/lacking.h"
#include "nn/graph/onnx/literals.h"
#include "nn/graph/onnx/tensors.h"

namespace ambit::graph::onnx {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<proto::NodeProto>;

class ModelCopy {
 public:
  ModelCopy(const std::vector<Tensor>& state, std::optional<bool> training)
      : state_(state), training_(training) {}

  WrittenModel copy(const Program& program, const std::string& path) {
    if (!out_.model.ParseFromString(program.model)) fail("expected the model of the program");
    take_initializers(*out_.model.mutable_graph());
    fill(*out_.model.mutable_graph());
    for (proto::FunctionProto& f : *out_.model.mutable_functions()) set_modes(*f.mutable_node());
    lacking_.check(path);
    return std::move(out_);
  }

 private:
  const Tensor* content_of(const proto::TensorProto& t) const {
    const std::optional<size_t> index = state_of(t);
    return index && *index < state_.size() ? &state_[*index] : nullptr;
  }

  // The outermost initializers are written from their own memory.
  void take_initializers(proto::GraphProto& graph) {
    google::protobuf::RepeatedPtrField<proto::TensorProto> others;
    for (proto::TensorProto& t : *graph.mutable_initializer()) {
      if (const Tensor* content = content_of(t)) {
        out_.initializers.push_back({t.name(), *content});
      } else {
        others.Add()->Swap(&t);
      }
    }
    graph.mutable_initializer()->Swap(&others);
  }

  void fill(proto::TensorProto& t) const {
    if (const Tensor* content = content_of(t)) set_elements(t, *content);
  }

  void fill(proto::GraphProto& graph) {
    for (proto::TensorProto& t : *graph.mutable_initializer()) fill(t);
    for (proto::NodeProto& node : *graph.mutable_node()) {
      for (proto::AttributeProto& a : *node.mutable_attribute()) {
        if (a.has_t()) fill(*a.mutable_t());
        if (a.has_g()) fill(*a.mutable_g());
      }
    }
    set_modes(*graph.mutable_node());
  }

  void set_modes(Nodes& nodes) {
    if (!training_) return;
    Nodes all;
    for (proto::NodeProto& node : nodes) {
      Nodes further;
      const bool is_standard = node.domain().empty() || node.domain() == "ai.onnx";
      if (is_standard && node.op_type() == "Dropout") set_dropout(node);
      if (is_standard && node.op_type() == "BatchNormalization") set_batch_norm(node, further);
      all.Add()->Swap(&node);
      for (proto::NodeProto& n : further) all.Add()->Swap(&n);
    }
    nodes.Swap(&all);
  }

  void refuse(const proto::NodeProto& node) {
    lacking_.add(fmt::format("{} in training: call eval() first (call '{}')", node.op_type(),
                             place_of(node)));
  }

  void set_dropout(proto::NodeProto& node) {
    if (*training_) return refuse(node);
    auto& inputs = *node.mutable_input();
    while (inputs.size() > 2) inputs.RemoveLast();
    while (!inputs.empty() && inputs[inputs.size() - 1].empty()) inputs.RemoveLast();
  }

  // In evaluation there is one output; uses of the other outputs become uses of the statistics.
  void set_batch_norm(proto::NodeProto& node, Nodes& further) {
    if (*training_) return refuse(node);
    if (node.output_size() > 3) return;  // such a node is not an operator of ONNX
    google::protobuf::RepeatedPtrField<proto::AttributeProto> others;
    for (proto::AttributeProto& a : *node.mutable_attribute()) {
      if (a.name() != "training_mode") others.Add()->Swap(&a);
    }
    node.mutable_attribute()->Swap(&others);
    for (int i = 1; i < node.output_size() && i + 2 < node.input_size(); ++i) {
      if (node.output(i).empty()) continue;
      proto::NodeProto& same = *further.Add();
      same.set_op_type("Identity");
      same.add_input(node.input(i + 2));
      same.add_output(node.output(i));
    }
    while (node.output_size() > 1) node.mutable_output()->RemoveLast();
  }

  const std::vector<Tensor>& state_;
  std::optional<bool> training_;
  WrittenModel out_;
  Lacking lacking_{"graph::save: expected calls in the mode of the model in"};
};

}  // namespace

WrittenModel copied_model(const Program& program, const std::vector<Tensor>& state,
                          std::optional<bool> training, const std::string& path) {
  return ModelCopy(state, training).copy(program, path);
}

}  // namespace ambit::graph::onnx
