// The program of libtorch's installation page: https://pytorch.org/cppdocs/installing.html.
#include <c10/util/irange.h>
#include <torch/torch.h>

#include <iostream>

struct NetImpl : torch::nn::Module {
  NetImpl() : fc(register_module("fc", torch::nn::Linear(3, 1))) {}
  torch::Tensor forward(torch::Tensor x) { return fc->forward(x); }
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Net);

int main() {
  const torch::Tensor tensor = torch::eye(3);
  std::cout << tensor << std::endl;
  Net net;
  TORCH_CHECK(net->forward(tensor).size(0) == 3, "a batch of 3");
  int64_t sum = 0;
  for (const auto i : c10::irange(tensor.size(0))) sum += i;
  std::cout << "sum " << sum << std::endl;
}
