// The functions and methods with several tensors, and their parameter names, as the headers declare
// them: to find gaps in a test's table, and to check the names in errors.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <vector>

/// For each name the tensor parameters of its overloads: {"add", {{"self", "other"}}}.
using DeclaredTensors = std::map<std::string, std::vector<std::vector<std::string>>>;

namespace declared {

// The text of a header without comments and macro definitions.
inline std::string code_of(const std::filesystem::path& header) {
  std::ifstream in(header);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  static const std::regex noise(R"(//[^\n]*|#define (?:[^\n]*\\\n)*[^\n]*)");
  return std::regex_replace(text, noise, "");
}

inline std::vector<std::string> tensor_parameters(const std::string& parameters) {
  static const std::regex tensor(
      R"((?:const Tensor&|TensorList|initializer_list<indexing::TensorIndex>)\s+(\w+))");
  std::vector<std::string> names;
  for (std::sregex_iterator m(parameters.begin(), parameters.end(), tensor), end; m != end; ++m) {
    names.push_back((*m)[1]);
  }
  return names;
}

// True if more than one tensor may be passed: a list may have several.
inline bool are_several(const std::vector<std::string>& names) {
  return names.size() > 1 || (names.size() == 1 && names[0] == "tensors");
}

/// Add the declarations of `code`; `self`: the tensor of a method.
inline void collect(const std::string& code, const std::string& prefix,
                    const std::vector<std::string>& self, DeclaredTensors& to) {
  static const std::regex function(
      R"([\w>&]\s+&?(\w+|operator[^\s\w(]+)\(([^()]*)\)\s*(?:const)?\s*[;{])");
  for (std::sregex_iterator m(code.begin(), code.end(), function), end; m != end; ++m) {
    std::vector<std::string> names = self;
    for (std::string& name : tensor_parameters((*m)[2])) names.push_back(std::move(name));
    if (are_several(names)) to[prefix + (*m)[1].str()].push_back(std::move(names));
  }
  static const std::regex family(R"(\n *AMBIT_BINARY\((\w+)\))");
  for (std::sregex_iterator m(code.begin(), code.end(), family), end; m != end; ++m) {
    for (const char* ending : {"", "_"}) {
      to[prefix + (*m)[1].str() + ending].push_back({"self", "other"});
    }
  }
  static const std::regex sign(R"(\nAMBIT_OPERATOR\(([^,]+), \w+\))");
  for (std::sregex_iterator m(code.begin(), code.end(), sign), end; m != end; ++m) {
    to[prefix + "operator" + (*m)[1].str()].push_back({"self", "other"});
  }
}

}  // namespace declared

/// Return the functions of ops/*.h with several tensors, as in declared_functions.h.
inline DeclaredTensors declared_functions_of_tensors() {
  DeclaredTensors all;
  for (const auto& file : std::filesystem::directory_iterator(AMBIT_OPS_HEADERS)) {
    // Tested elsewhere: functions with an output, aliases and functions of lists (out_test,
    // aliases_test, foreach_test).
    const std::string header = file.path().filename();
    if (header == "out.h" || header == "aliases.h" || header == "foreach.h") continue;
    declared::collect(declared::code_of(file.path()), "", {}, all);
  }
  return all;
}

/// Return the methods of Tensor with another tensor as an argument, as "Tensor::add".
inline DeclaredTensors declared_methods_of_tensors() {
  const std::string code =
      declared::code_of(std::filesystem::path(AMBIT_OPS_HEADERS) / ".." / "tensor.h");
  const size_t begin = code.find("class AMBIT_API Tensor "), end = code.find(" private:", begin);
  DeclaredTensors all;
  declared::collect(code.substr(begin, end - begin), "Tensor::", {"self"}, all);
  return all;
}
