// Graphs: networks as lists of calls of ambit's functions, loaded from files of PyTorch and ONNX,
// run and trained as modules on any device, and written to both.
#pragma once

#include <ambit/nn/module.h>
#include <ambit/nn/module_holder.h>
#include <ambit/tensor.h>

#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ambit::graph {

class Plan;
struct Mode;
struct PlanOptions;
struct Program;

/// A network as a list of calls. Parameters and buffers have the names of the original module
/// ("layer1.0.conv1.weight"), so state dicts fit, and to(), optimizers, save() and clone() work as
/// for any module; constants of the file are buffers that are not saved. Every call is a public
/// function with its gradient. Make one with load().
class AMBIT_API GraphImpl : public nn::Module {
 public:
  /// `state`: one tensor for each parameter, buffer and constant of the program.
  GraphImpl(std::shared_ptr<const Program> program, const std::vector<Tensor>& state);

  /// Run the calls and return the outputs, in the order of Python's flattened result; an output
  /// that is None or a string is undefined, a number a 0-dim tensor. Buffers and inputs that
  /// the original module changes are changed. Inputs, in the order of Python's flattened arguments,
  /// must be on the device of the parameters; tensors that the original creates on a device of its
  /// own are created there, too. Omit arguments that are numbers, bools, strings or None: they are
  /// constants of the program. An integer that was exported as dynamic is a 0-dim int64. Errors:
  /// Error for a wrong number of inputs, DTypeError and ShapeError for one that differs from the
  /// example or from the constraints of its dynamic sizes; errors of the calls, which name the call
  /// and the path of the module that made it.
  std::vector<Tensor> forward(TensorList inputs);
  /// As above, for a graph of one input and one output. Errors: also Error for any other graph.
  Tensor forward(const Tensor& input);

  /// Switch dropout, batch norms with running statistics and recurrent layers to training or
  /// evaluation. Before the first call of train() or eval(), each runs in the mode in which it was
  /// exported; is_training() is then true if any was in training. Calls of run_decompositions()'
  /// form that have lost the switch (a dropout exported in evaluation is no longer there) keep
  /// their mode.
  void train(bool on = true) override;

  /// Return a copy with its own tensors, on `device` if given.
  std::shared_ptr<nn::Module> clone(const std::optional<Device>& device = {}) const override;

  /// Return the names of the inputs in the file, in the order of forward().
  std::vector<std::string> input_names() const;
  /// Return the names of the outputs in the file; that of an output that no call computes is empty.
  std::vector<std::string> output_names() const;
  /// Return the calls, one per line, with dtypes and sizes; dynamic sizes have names.
  std::string text() const;
  /// Return the calls as a directed graph in the language of Graphviz.
  std::string dot() const;
  /// Print "Graph(inputs=1, outputs=1, calls=23)".
  void pretty_print(std::ostream& os) const override;

 protected:
  void assign_clone(const nn::Module& other, const std::optional<Device>& device) override;

 private:
  friend AMBIT_API void save(const GraphImpl& net, const std::string& path);
  friend AMBIT_API Plan plan(const GraphImpl& net, TensorList inputs, const PlanOptions& options);

  Mode check(TensorList inputs) const;
  void check_input(size_t index, const Tensor& input) const;
  void check_sizes(TensorList inputs) const;
  void register_state(size_t index, std::map<std::string, nn::Module*>& modules);

  std::shared_ptr<const Program> program_;
  std::vector<Tensor> state_;
  std::optional<bool> training_;  // none: as exported
};
AMBIT_MODULE(Graph);

/// Load a network with its tensors on `map_location`: a .pt2 file that PyTorch 2.9 or newer wrote
/// with torch.export.save(), either as exported or after run_decompositions(), or an ONNX model of
/// opset 13 to 28. Nothing in the file is run or unpickled, and memory is bounded by the size of
/// the file. In an ONNX model, initializers with dims are parameters if they are floating point,
/// except statistics of batch norms; all others are buffers; data outside of the file are read from
/// its folder only. Errors: SerializationError naming the path and the cause; NotImplementedError
/// listing all functions and dtypes in the file that ambit lacks; OutOfMemoryError.
AMBIT_API Graph load(const std::string& path, Device map_location = {});

/// Write a graph that load() or capture() (graph/capture.h) made, perhaps trained, moved or cloned
/// since, with its current parameters, buffers and constants, and with the mode of the last train()
/// or eval(). Tied tensors stay tied.
/// "net.pt2", not for graphs that were loaded from ONNX models: a file that PyTorch's
/// torch.export.load() opens, with the calls, ranges and guards of the original. Devices are those
/// of the original file; its sample inputs are not written.
/// "net.onnx": an ONNX model of opset 18 for inference. Parameters and buffers have their dotted
/// names; if the model has more than 2 GiB, they are in "net.onnx.data".
/// Errors: SerializationError naming the path and the cause, such as a name with another ending, or
/// parameters whose dtype is not the exported one after to(kBFloat16); NotImplementedError for any
/// other graph, or listing all calls that have no form in ONNX; OutOfMemoryError. Then an existing
/// file is unchanged.
AMBIT_API void save(const GraphImpl& net, const std::string& path);
inline void save(const Graph& net, const std::string& path) { save(*net, path); }

}  // namespace ambit::graph
