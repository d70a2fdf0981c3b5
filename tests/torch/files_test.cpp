// torch::save() writes archives; ambit::save() chooses the format by the extension, also in a
// program with both.
#include <ambit/ambit.h>
#include <doctest/doctest.h>
#include <torch/torch.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

using ambit::serialize::is_archive;

TEST_CASE("torch::save writes archives whatever the extension, ambit::save by the extension") {
  const TemporaryFolder folder;
  const torch::Tensor x = torch::ones({2});
  const std::vector<torch::Tensor> list{x, x};
  const torch::nn::Linear net(2, 1);
  const auto shared = std::make_shared<torch::nn::LinearImpl>(2, 1);
  const torch::optim::Adam adam(net->parameters());
  for (const char* name : {"file", "file.pt", "file.pth", "file.safetensors"}) {
    CAPTURE(name);
    const std::string path = (folder.path() / name).string();
    const auto is_archive_by = [&path](auto save) {
      save();
      return is_archive(path);
    };
    CHECK(is_archive_by([&] { torch::save(x, path); }));
    CHECK(is_archive_by([&] { torch::save(list, path); }));
    CHECK(is_archive_by([&] { torch::save({x, x}, path); }));
    CHECK(is_archive_by([&] { torch::save(net, path); }));
    CHECK(is_archive_by([&] { torch::save(*net, path); }));
    CHECK(is_archive_by([&] { torch::save(shared, path); }));
    CHECK(is_archive_by([&] { torch::save(adam, path); }));
    CHECK(!is_archive_by([&] { ambit::save(x, path); }));
    CHECK(!is_archive_by([&] { ambit::save(list, path); }));
    CHECK(!is_archive_by([&] { ambit::save(net, path); }));
    CHECK(!is_archive_by([&] { ambit::save(*net, path); }));
    CHECK(!is_archive_by([&] { ambit::save(shared, path); }));
    torch::Tensor y;
    ambit::save(x, path);
    torch::load(y, path);
    CHECK(y.equal(x));
  }
}

TEST_CASE("an unqualified save in a program for libtorch is torch::save") {
  using namespace torch;
  const TemporaryFolder folder;
  std::string path = (folder.path() / "file.pt").string();
  const std::string constant = path;
  Tensor x = ones({2});
  const Tensor fixed = x;
  nn::Linear net(2, 1);
  optim::SGD sgd(net->parameters(), 0.1);
  const auto check = [&](auto saved) {
    ambit::save(x, path);
    REQUIRE(!is_archive(path));
    saved();
    CHECK(is_archive(path));
  };
  check([&] { save(x, path); });
  check([&] { save(fixed, path); });
  check([&] { save(fixed, constant); });
  check([&] { save(ones({3}), path.c_str()); });
  check([&] { save(std::vector<Tensor>{x}, constant); });
  check([&] { save(net, constant); });
  check([&] { save(std::as_const(net), path); });
  check([&] { save(*net, constant); });
  check([&] { save(net.ptr(), constant); });
  check([&] { save(sgd, constant); });
}

TEST_CASE("torch::load puts a tensor on a device, and an optimizer's state on its parameters'") {
  if (!ambit::is_available("sim")) return;
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "file").string();
  const ambit::Device sim("sim");
  torch::save(torch::ones({2}).requires_grad_(), path);
  torch::Tensor x, y = torch::zeros({3}).requires_grad_();
  torch::load(x, path, sim);
  CHECK(x.device() == sim);
  CHECK(x.is_leaf());
  torch::load(y, path, "sim");
  CHECK(y.device() == sim);
  CHECK(y.requires_grad());
  CHECK(y.sizes() == torch::IntArrayRef({2}));

  torch::Tensor p = torch::ones({2}, sim).requires_grad_();
  torch::optim::Adam adam({p});
  p.sum().backward();
  adam.step();
  torch::save(adam, path);
  torch::optim::Adam other({p});
  torch::load(other, path, torch::kCPU);
  const auto& state =
      static_cast<torch::optim::AdamParamState&>(*other.state().at(p.unsafeGetTensorImpl()));
  CHECK(state.step() == 1);
  CHECK(state.exp_avg().device() == sim);
  other.step();
  CHECK(state.step() == 2);
}
