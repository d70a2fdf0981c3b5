// A program: a list of calls of ambit's functions. Readers of files make it, GraphImpl runs it, and
// printing shows it. Private to nn/graph.
#pragma once

#include <ambit/dtype.h>
#include <ambit/tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ambit::graph {

struct Function;
struct Block;

/// An argument of a call: a constant, a value of the block, or a list of either.
struct Argument {
  enum class Kind : uint8_t {
    none,
    flag,
    integer,
    real,
    text,
    dtype,
    format,  ///< of memory
    device,  ///< its value has no effect: a program runs on the device of its tensors
    value,   ///< `integer` is its position in Block::values
    list,
    block,
  };

  Kind kind = Kind::none;
  union {
    int64_t integer = 0;  ///< also used for flags, dtypes, formats and values
    double real;
  };
  std::string text{};
  std::vector<Argument> items{};
  std::shared_ptr<const Block> block{};

  static Argument of(Kind kind, int64_t integer) {
    Argument a;
    a.kind = kind;
    a.integer = integer;
    return a;
  }
};

/// A size: a number, or an expression of symbols in the form that sympy's srepr() writes.
struct Size {
  int64_t number = 0;
  std::string expression{};
};

/// A tensor, or a number if `dtype` is empty.
struct Value {
  std::string name{};
  std::optional<DType> dtype{};
  std::vector<Size> sizes{};  ///< of a tensor; for an integer input, its value
  bool is_open = false;       ///< a tensor with any sizes, and of any dtype if `dtype` is empty
};

struct Node {
  const Function* function = nullptr;
  std::string name{};
  std::string module{};               ///< dotted path of the module that made the call
  std::vector<Argument> arguments{};  ///< one for each parameter of the function
  std::vector<uint32_t> outputs{};    ///< positions in Block::values
  std::vector<uint32_t> last_used{};  ///< values that no later node needs
  bool counts_steps = false;          ///< adds to a counter of training steps
};

/// The body of a program, or of a part that runs in another mode. Nodes use only earlier values.
struct Block {
  std::vector<Value> values{};
  std::vector<uint32_t> inputs{};
  std::vector<Node> nodes{};
  std::vector<Argument> outputs{};
};

/// A parameter, a buffer or a constant.
struct State {
  std::string name{};
  uint32_t value = 0;
  bool is_parameter = false, is_persistent = false, requires_grad = false;
};

struct Input {
  uint32_t value = 0;
  bool is_contiguous = false;  ///< in the example that made the program
  bool is_written = false;     ///< a node changes it in place
};

/// The new value of a state or input, which is copied to it after a run.
struct Update {
  uint32_t from = 0, to = 0;
  bool counts_steps = false;  ///< the update of a counter of training steps
};

struct Range {
  std::optional<int64_t> min{}, max{};
};

struct Program {
  Block block{};
  std::vector<State> state{};
  std::vector<Input> inputs{};
  std::vector<Update> updates{};
  std::vector<Argument> outputs{};  ///< the block's outputs without the updates
  std::map<std::string, Range> ranges{};
  std::string document{};  ///< the JSON of the .pt2 file, for writing it; else empty
  /// The ONNX model, for writing it, with references to the state instead of its contents; empty
  /// for other programs.
  std::string model{};
};

/// The program and the tensors that a reader makes from a file.
struct LoadedProgram {
  Program program;
  std::vector<Tensor> state;  ///< in the order of Program::state, on the cpu
};

/// Return the calls, one per line.
std::string text(const Program& program);
/// Set last_used of all nodes.
AMBIT_API void find_last_uses(Block& block);

}  // namespace ambit::graph
