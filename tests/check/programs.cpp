// programs mistakes|examples|<name> <device>: runs the programs one after another; a mistake of one
// does not end the next ones.
#include "programs.h"

#include <iostream>

namespace {

void run(void (*program)()) try {
  torch::manual_seed(0);
  program();
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  if (argc > 2) planted::device = torch::Device(argv[2]);
  if (name == "examples") {
    for (const auto& [_, program] : planted::examples()) program();
    return 0;
  }
  for (const auto* list : {&planted::mistakes(), &planted::examples()}) {
    for (const auto& [own, program] : *list) {
      if (own == name || (name == "mistakes" && list == &planted::mistakes())) run(program);
    }
  }
}
