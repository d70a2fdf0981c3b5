// A program that calls each kernel of the planted backend that may have a bug. Exits with 1 after
// an error. program <the plugin> <the bug: only the calls that show it; all: every call; or train,
// views, temporaries>
#include <ambit/ambit.h>
#include <ambit/plugins.h>
#include <ambit/settings.h>
#include <sys/resource.h>

#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <string>

using namespace ambit;

namespace {

Device device() { return Device("planted"); }

// Values from a formula, so that only copies run before the tested call.
Tensor numbers(IntArrayRef sizes) {
  Tensor t = empty(sizes);
  for (int64_t i = 0; i < t.numel(); ++i) {
    t.data_ptr<float>()[i] = static_cast<float>((i * 37 + 11) % 101) / 17.f - 3.f;
  }
  return t.to(device());
}

Tensor indices(const std::vector<int64_t>& values) { return tensor(values).to(device()); }

void scatter_add_duplicates() {
  zeros({3}).to(device()).scatter_add_(0, indices({0, 0, 1}), numbers({3}));
}

void max_pool_backward() {
  Tensor x = numbers({1, 2, 6, 6});
  x.requires_grad_();
  max_pool2d(x, {.kernel = {3, 3}, .stride = {1, 1}}).backward(numbers({1, 2, 4, 4}));
}

void sgd_step() {
  nn::Linear layer(3, 2);
  layer->to(device());
  optim::SGD sgd(layer->parameters(), optim::SGDOptions(0.1));
  for (const Tensor& p : layer->parameters()) p.mutable_grad() = numbers(p.sizes());
  sgd.step();
}

void sum_of_large_integers() {
  (void)tensor(std::vector<int64_t>(4, int64_t{1} << 31)).to(device()).sum();
}

const std::map<std::string, std::function<void()>> kCalls{
    {"ignored_offset", [] { (void)numbers({12}).slice(0, 3, 12, 2).contiguous(); }},
    {"ignored_strides",
     [] {
       (void)(numbers({4, 4}) + numbers({4, 4}).t());
     }},
    {"cut_to_bool",
     [] {
       (void)tensor({0.5f, 0.f, 2.f}).to(device()).to(kBool);
     }},
    {"dropped_tail", [] { (void)neg(numbers({7})); }},
    {"written_past_end", [] { numbers({7}).fill_(3); }},
    {"cleared_alias", [] { numbers({7}).add_(numbers({7})); }},
    {"narrow_sum", sum_of_large_integers},
    {"lost_nan",
     [] {
       (void)tensor({1.f, NAN, 2.f}).to(device()).max();
     }},
    {"last_of_equals", [] { (void)ones({5}).to(device()).argmax(0); }},
    {"modified_input",
     [] {
       (void)numbers({2, 5}).cumsum(1);
     }},
    {"clamped_index",
     [] {
       (void)numbers({3}).gather(0, indices({0, 7}));
     }},
    {"lost_update", scatter_add_duplicates},
    {"lost_update_in_order", scatter_add_duplicates},
    {"changing_winner",
     [] {
       zeros({3}).to(device()).scatter_(0, indices({0, 0, 1}), numbers({3}));
     }},
    {"short_mantissa",
     [] {
       (void)matmul(numbers({8, 8}), numbers({8, 8}));
     }},
    {"swapped_stride",
     [] {
       (void)conv2d(numbers({1, 2, 8, 8}), numbers({3, 2, 3, 3}), {}, {.stride = {2, 1}});
     }},
    {"overwritten_gradient", max_pool_backward},
    {"forgotten_parameter", sgd_step},
    {"ignored_seed_bits", [] { (void)rand({8}, device()); }},
    {"ignored_counter", [] { (void)(rand({8}, device()), rand({8}, device())); }},
};

// Ten steps with images from the host, dropout, a strided convolution, overlapping windows and
// operations in place.
void train() {
  nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(1, 4, 3).stride({2, 1})), nn::BatchNorm2d(4),
                     nn::ReLU(nn::ReLUOptions(true)),
                     nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(1)), nn::Flatten(),
                     nn::Dropout(0.2), nn::Linear(4 * 2 * 8, 3));
  net->to(device());
  optim::SGD sgd(net->parameters(), optim::SGDOptions(0.1).momentum(0.9));
  for (int step = 0; step < 10; ++step) {
    const Tensor x = randn({16, 1, 10, 12});
    const Tensor target = (x.sum({1, 2, 3}) > 0).to(kInt64).to(device());
    sgd.zero_grad();
    nn::functional::cross_entropy(net->forward(x.to(device())), target).backward();
    sgd.step();
  }
}

// Only the negation has a bug, in the last three of seven elements.
void negate_and_change_views() {
  const Tensor x = neg(numbers({7}));
  x.slice(0, 4, 7).add_(1);
  x.slice(0, 0, 4).mul_(2);
  (void)(x * x);
}

// Makes 1.2 GB of tensors one after the other, and twice as much memory for their twins.
void make_temporaries() {
  const auto resident_kilobytes = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  numbers({1 << 20}).add_(1);
  const auto before = resident_kilobytes();
  for (int i = 0; i < 300; ++i) empty({1 << 20}, device()).fill_(i);
  const auto after = resident_kilobytes();
  // A call makes some ten copies of its operands of 4 MB.
  if (after - before > 200'000) throw Error("expected memory of freed tensors to be freed");
}

const std::map<std::string, std::function<void()>> kPrograms{
    {"train", train}, {"views", negate_and_change_views}, {"temporaries", make_temporaries}};

}  // namespace

int main(int, char** argv) {
  try {
    load_backend(argv[1]);
    const std::string bug = argv[2];
    manual_seed(uint64_t{1} << 40 | 7);
    if (kPrograms.contains(bug)) kPrograms.at(bug)();
    for (const auto& [name, call] : kCalls) {
      if (bug != "all" && bug != name) continue;
      set_deterministic(name == "lost_update_in_order" || name == "changing_winner");
      if (bug == "all" && name == "clamped_index")
        continue;  // the program's index is invalid for the shadow
      call();
      synchronize(device());
    }
  } catch (const Error& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
