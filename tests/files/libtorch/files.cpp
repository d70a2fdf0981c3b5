// The part of libtorch_cross_test that uses the real libtorch: writes files for ambit, or reads
// ambit's and compares them with its own. Usage: ambit_libtorch_files write|read FOLDER
#include <torch/torch.h>

#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace {

std::string folder;
int failures = 0;

std::string path(const std::string& name) { return folder + "/" + name; }

void check(bool right, const std::string& what) {
  if (right) return;
  std::cerr << "wrong: " << what << '\n';
  ++failures;
}

struct NetImpl : torch::nn::Module {
  torch::nn::Linear fc = register_module("fc", torch::nn::Linear(3, 2));
  torch::nn::BatchNorm2d norm = register_module("norm", torch::nn::BatchNorm2d(2));
  torch::nn::Sequential tail = register_module(
      "tail", torch::nn::Sequential(torch::nn::Linear(torch::nn::LinearOptions(2, 2).bias(false)),
                                    torch::nn::ReLU(), torch::nn::Linear(2, 1)));
};
TORCH_MODULE(Net);

// Parameter k is k, k + 0.5, ...; buffers continue.
void fill(NetImpl& net) {
  torch::NoGradGuard no_grad;
  double k = 0;
  for (auto& t : net.parameters()) t.copy_(k++ + torch::arange(t.numel()).view(t.sizes()) / 2);
  for (auto& t : net.buffers()) t.copy_(k++ + torch::arange(t.numel()).view(t.sizes()) / 2);
}

const std::vector<torch::ScalarType> kTypes{
    torch::kBool,  torch::kUInt8, torch::kInt8,     torch::kInt16, torch::kInt32,
    torch::kInt64, torch::kHalf,  torch::kBFloat16, torch::kFloat, torch::kDouble};

std::vector<torch::Tensor> list() {
  std::vector<torch::Tensor> all;
  for (auto type : kTypes) all.push_back(torch::arange(-3, 4).to(type));
  const torch::Tensor base = torch::arange(12, torch::kFloat).view({3, 4});
  all.push_back(base.t());
  all.push_back(base.slice(1, 1, 3));
  all.push_back(torch::empty({0, 3}));
  all.push_back(torch::tensor(5, torch::kInt64));
  all.push_back(torch::ones({2}).requires_grad_());
  return all;
}

std::unique_ptr<torch::optim::Optimizer> optimizer(const std::string& name, const torch::Tensor& p,
                                                   const torch::Tensor& q, double lr) {
  using namespace torch::optim;
  std::vector<OptimizerParamGroup> groups{OptimizerParamGroup({p}), OptimizerParamGroup({q})};
  if (name == "lbfgs") {  // it has only one group
    return std::make_unique<LBFGS>(std::vector<torch::Tensor>{p, q},
                                   LBFGSOptions(lr).max_iter(3).history_size(2));
  }
  if (name == "lbfgs_early") {  // its lists are empty after one iteration
    return std::make_unique<LBFGS>(std::vector<torch::Tensor>{p, q}, LBFGSOptions(lr).max_iter(1));
  }
  if (name == "sgd") return std::make_unique<SGD>(groups, SGDOptions(lr));
  if (name == "momentum") return std::make_unique<SGD>(groups, SGDOptions(lr).momentum(0.9));
  if (name == "adam") return std::make_unique<Adam>(groups, AdamOptions(lr).betas({0.8, 0.99}));
  if (name == "amsgrad") return std::make_unique<Adam>(groups, AdamOptions(lr).amsgrad(true));
  if (name == "adagrad") {
    return std::make_unique<Adagrad>(groups, AdagradOptions(lr).lr_decay(0.01));
  }
  if (name == "rmsprop") {
    return std::make_unique<RMSprop>(groups, RMSpropOptions(lr / 10).momentum(0.9).centered(true));
  }
  return std::make_unique<AdamW>(groups, AdamWOptions(lr));
}
const std::vector<std::string> kOptimizers{"sgd",     "momentum", "adam",  "adamw",      "amsgrad",
                                           "adagrad", "rmsprop",  "lbfgs", "lbfgs_early"};

struct Training {
  explicit Training(const std::string& name, double lr = 0.1)
      : p(torch::arange(1., 5., torch::kDouble).requires_grad_()),
        q(torch::arange(2., 4., torch::kDouble).requires_grad_()),
        opt(optimizer(name, p, q, lr)) {}
  void step() {
    opt->step([this] {
      opt->zero_grad();
      torch::Tensor loss = p.pow(3).sum() + q.pow(2).sum();
      loss.backward();
      return loss;
    });
  }
  torch::Tensor p, q;
  std::unique_ptr<torch::optim::Optimizer> opt;
};

// A tuple of all types that pickles of both libraries can contain.
torch::IValue pickled() {
  return std::make_tuple(torch::arange(6, torch::kFloat).view({2, 3}), int64_t{3}, 2.5,
                         std::string("text"), true);
}

void write_pickle() {
  const std::vector<char> bytes = torch::pickle_save(pickled());
  std::ofstream(path("pickle.bin"), std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void read_pickle() {
  std::ifstream file(path("pickle.bin"), std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  const torch::IValue value = torch::pickle_load(bytes), right = pickled();
  const auto &got = value.toTupleRef().elements(), &expected = right.toTupleRef().elements();
  check(got.size() == expected.size(), "size of the pickled tuple");
  check(got.at(0).toTensor().equal(expected.at(0).toTensor()), "pickled tensor");
  for (size_t i = 1; i < got.size(); ++i) {
    check(got[i] == expected[i], "element " + std::to_string(i) + " of the pickled tuple");
  }
}

void write() {
  write_pickle();
  torch::save(torch::arange(6, torch::kFloat).view({2, 3}), path("tensor.pt"));
  torch::save(list(), path("list.pt"));
  Net net;
  fill(*net);
  torch::save(net, path("net.pt"));
  std::ofstream stream(path("stream.pt"), std::ios::binary);
  torch::save(net, stream);
  for (const auto& name : kOptimizers) {
    Training training(name);
    training.step();
    if (name != "lbfgs_early") training.step();
    torch::save(*training.opt, path(name + ".pt"));
    training.step();
    torch::save(std::vector<torch::Tensor>{training.p, training.q}, path(name + "_next.pt"));
  }
  torch::serialize::OutputArchive archive, nested;
  nested.write("x", torch::ones({2}));
  nested.write("buffer", torch::zeros({1}), true);
  archive.write("nested", nested);
  archive.write("int", torch::IValue(int64_t{3}));
  archive.write("float", torch::IValue(2.5));
  archive.write("text", torch::IValue("text"));
  archive.write("bool", torch::IValue(true));
  archive.write("none", torch::IValue());
  archive.write("ints", torch::IValue(std::vector<int64_t>{1, 2}));
  archive.write("floats", torch::IValue(std::vector<double>{0.5}));
  archive.write("texts", torch::IValue(c10::List<std::string>({"a", "b"})));
  archive.write("tensors", torch::IValue(std::vector<torch::Tensor>{torch::ones({1})}));
  archive.write("tuple", torch::IValue(std::make_tuple(1.5, int64_t{2})));
  archive.save_to(path("archive.pt"));
  for (const auto& [name, sampler] :
       std::vector<std::pair<std::string, std::shared_ptr<torch::data::samplers::Sampler<>>>>{
           {"sequential", std::make_shared<torch::data::samplers::SequentialSampler>(10)},
           {"random", std::make_shared<torch::data::samplers::RandomSampler>(10)},
           {"distributed",
            std::make_shared<torch::data::samplers::DistributedSequentialSampler>(10, 2, 1)}}) {
    sampler->next(3);
    torch::serialize::OutputArchive state;
    sampler->save(state);
    state.save_to(path(name + ".pt"));
  }
}

void read_archive() {
  torch::serialize::InputArchive archive, nested;
  archive.load_from(path("archive.archive"));
  archive.read("nested", nested);
  torch::Tensor x, buffer;
  nested.read("x", x);
  nested.read("buffer", buffer, true);
  check(x.equal(torch::ones({2})) && buffer.equal(torch::zeros({1})), "nested tensors");
  torch::IValue v;
  archive.read("int", v);
  check(v.toInt() == 3, "int");
  archive.read("float", v);
  check(v.toDouble() == 2.5, "float");
  archive.read("text", v);
  check(v.toStringRef() == "text", "text");
  archive.read("bool", v);
  check(v.toBool(), "bool");
  archive.read("none", v);
  check(v.isNone(), "none");
  archive.read("ints", v);
  check(v.toIntVector() == std::vector<int64_t>{1, 2}, "ints");
  archive.read("floats", v);
  check(v.toDoubleVector() == std::vector<double>{0.5}, "floats");
  archive.read("texts", v);
  check(v.toListRef().size() == 2 && v.toListRef()[1].toStringRef() == "b", "texts");
  archive.read("tensors", v);
  check(v.toTensorVector().at(0).equal(torch::ones({1})), "tensors");
  archive.read("tuple", v);
  check(v.toTupleRef().elements()[1].toInt() == 2, "tuple");
  archive.read("odd key / if", x);
  check(x.equal(torch::ones({3})), "odd key");
}

void read() {
  read_pickle();
  torch::Tensor tensor;
  torch::load(tensor, path("tensor.archive"));
  check(tensor.equal(torch::arange(6, torch::kFloat).view({2, 3})), "tensor");
  std::vector<torch::Tensor> all;
  std::ifstream list_stream(path("list.archive"), std::ios::binary);
  torch::load(all, list_stream);
  const auto expected = list();
  check(all.size() == expected.size(), "size of the list");
  for (size_t i = 0; i < std::min(all.size(), expected.size()); ++i) {
    check(all[i].equal(expected[i]) && all[i].scalar_type() == expected[i].scalar_type(),
          "list " + std::to_string(i));
    check(all[i].requires_grad() == expected[i].requires_grad(), "grad " + std::to_string(i));
  }
  check(all[10].strides() == expected[10].strides(), "strides");
  Net net, right;
  torch::load(net, path("net.archive"));
  fill(*right);
  for (const auto& p : right->named_parameters()) {
    check(net->named_parameters()[p.key()].equal(p.value()), p.key());
  }
  for (const auto& p : right->named_buffers()) {
    check(net->named_buffers()[p.key()].equal(p.value()), p.key());
  }
  for (const auto& name : kOptimizers) {
    // libtorch 1.13 keeps the program's options, 2.x replaces them by the file's.
    Training training(name, TORCH_VERSION_MAJOR < 2 ? 0.1 : 5);
    torch::load(*training.opt, path(name + ".archive"));
    std::vector<torch::Tensor> now, next;
    torch::load(now, path(name + "_now.archive"));
    torch::load(next, path(name + "_next.archive"));
    training.p.set_data(now.at(0).detach());
    training.q.set_data(now.at(1).detach());
    training.step();
    check(torch::allclose(training.p, next.at(0), 1e-12, 0) &&
              torch::allclose(training.q, next.at(1), 1e-12, 0),
          "a step of " + name);
  }
  read_archive();
  torch::data::samplers::SequentialSampler sequential(10);
  torch::data::samplers::DistributedSequentialSampler distributed(10, 2, 1);
  torch::serialize::InputArchive state;
  state.load_from(path("sequential.archive"));
  sequential.load(state);
  check(sequential.index() == 4, "sequential sampler");
  torch::serialize::InputArchive other;
  other.load_from(path("distributed.archive"));
  distributed.load(other);
  check(distributed.index() == 9, "distributed sampler");
  torch::data::samplers::RandomSampler random(10);
  torch::serialize::InputArchive unbegun;
  unbegun.load_from(path("random.archive"));
  random.load(unbegun);
  std::vector<torch::Tensor> order;
  torch::load(order, path("random_order.archive"));
  const std::vector<size_t> positions = random.next(10).value();
  check(torch::tensor(std::vector<int64_t>(positions.begin(), positions.end())).equal(order.at(0)),
        "random sampler");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  folder = argv[2];
  try {
    std::strcmp(argv[1], "write") == 0 ? write() : read();
  } catch (const std::exception& e) {
    std::cerr << "error: " << e.what() << '\n';
    return 1;
  }
  return failures == 0 ? 0 : 1;
}
