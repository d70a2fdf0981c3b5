// `ambit graph`: shows, runs, measures and converts networks in files.
#include <ambit/autograd.h>
#include <ambit/error.h>
#include <ambit/graph/graph.h>
#include <ambit/graph/plan.h>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "bench/graph.h"
#include "commands.h"
#include "npy.h"

namespace {

using namespace ambit;

struct Options {
  std::string file, to, device = "cpu";
  std::vector<std::string> in, out;
  bool dot = false, plan = false, exact = false;
  bench::GraphOptions bench{};
};

void show(const Options& o) {
  const graph::Graph net = graph::load(o.file);
  fmt::print("{}", o.dot ? net->dot() : net->text());
}

std::vector<Tensor> outputs_of(const graph::Graph& net, const std::vector<Tensor>& inputs,
                               const Options& o) {
  if (!o.plan && !o.exact) return net->forward(inputs);
  const graph::Plan plan = graph::plan(net, inputs, {.exact = o.exact});
  fmt::print("{}{}", plan.text(), plan.memory());
  return plan.run(inputs);
}

std::vector<Tensor> inputs_of(const Options& o, Device device) {
  std::vector<Tensor> inputs;
  for (const std::string& path : o.in) inputs.push_back(read_npy(path).to(device));
  return inputs;
}

void measure(const Options& o) {
  const Device device(o.device);
  const graph::Graph net = graph::load(o.file, device);
  net->eval();
  fmt::print("{}", bench::graph_table(net, inputs_of(o, device), device, o.bench));
}

void run(const Options& o) {
  const Device device(o.device);
  const graph::Graph net = graph::load(o.file, device);
  const std::vector<Tensor> inputs = inputs_of(o, device);
  const NoGradGuard no_grad;
  const std::vector<Tensor> outputs = outputs_of(net, inputs, o);
  if (o.out.size() > outputs.size()) {
    throw Error(fmt::format("graph run: expected at most {} files for outputs, got {}",
                            outputs.size(), o.out.size()));
  }
  for (size_t i = 0; i < o.out.size(); ++i) {
    if (!outputs[i].defined()) throw Error(fmt::format("graph run: output {} is None", i));
    write_npy(outputs[i], o.out[i]);
  }
}

}  // namespace

void add_graph(CLI::App& tool, int& exit_code) {
  const auto options = std::make_shared<Options>();
  CLI::App* graph =
      tool.add_subcommand("graph", "Show, run, measure and convert networks in files.");
  graph->require_subcommand(1);
  graph->footer(
      "Files are .pt2 files, written by torch.export.save() of PyTorch 2.9 or newer, or ONNX "
      "models of opset 13 or newer.");

  CLI::App* shown =
      graph->add_subcommand("show", "Print a network's calls, with dtypes and sizes.");
  shown->add_option("file", options->file, "the .pt2 or .onnx file")->required();
  shown->add_flag("--dot", options->dot, "print a directed graph for Graphviz: | dot -Tsvg");
  shown->callback([options, &exit_code] {
    show(*options);
    exit_code = 0;
  });

  CLI::App* ran = graph->add_subcommand("run", "Run a network on NumPy arrays.");
  ran->add_option("file", options->file, "the .pt2 or .onnx file")->required();
  ran->add_option("--in", options->in, "a .npy file; once for each input, in order")
      ->allow_extra_args(false);
  ran->add_option("--out", options->out, "the .npy file to write; once for each output, in order")
      ->allow_extra_args(false);
  ran->add_option("--device", options->device, "the device to run on")->capture_default_str();
  ran->add_flag("--plan", options->plan,
                "run a plan, and print its calls and its memory by module");
  ran->add_flag("--exact", options->exact,
                "the same for an exact plan, which gives the graph's results bit for bit");
  ran->callback([options, &exit_code] {
    run(*options);
    exit_code = 0;
  });

  CLI::App* measured = graph->add_subcommand(
      "bench", "Measure a network in evaluation: the graph, its exact plan and its default plan.");
  measured->footer(
      "The three run alternately in one process; times are medians, ratios are to the graph's "
      "time. Memory is that between inputs and outputs; that of the graph is shown if it is the "
      "largest so far. OMP_NUM_THREADS sets the number of threads.");
  measured->add_option("file", options->file, "the .pt2 or .onnx file")->required();
  const auto in = measured
                      ->add_option("--in", options->in,
                                   "a .npy file; once for each input, in order; default: "
                                   "random numbers, zeros for integers")
                      ->allow_extra_args(false);
  measured
      ->add_option("--batch", options->bench.batches,
                   "sizes of dim 0 of all inputs, such as 1 4 64")
      ->check(CLI::PositiveNumber)
      ->excludes(in);
  measured->add_option("--device", options->device, "the device to run on")->capture_default_str();
  measured
      ->add_option("--seconds", options->bench.seconds,
                   "seconds to measure each of the three for each batch")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  measured->add_flag("--cpu-time", options->bench.cpu_time,
                     "measure the process's time on all cores, for one thread on a busy machine");
  measured->callback([options, &exit_code] {
    measure(*options);
    exit_code = 0;
  });

  CLI::App* converted =
      graph->add_subcommand("convert", "Read a file and write it as a .pt2 or ONNX file.");
  converted->add_option("file", options->file, "the .pt2 or .onnx file to read")->required();
  converted->add_option("to", options->to, "the .pt2 or .onnx file to write")->required();
  converted->callback([options, &exit_code] {
    graph::save(graph::load(options->file), options->to);
    exit_code = 0;
  });
}
