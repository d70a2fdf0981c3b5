// c10d::ProcessGroupMPI with libtorch's calls, in processes started by mpirun.
#include <torch/torch.h>
#include <c10d/ProcessGroupMPI.hpp>

#include "on_ranks.h"

TEST_CASE("c10d child: collectives" * doctest::skip()) {
  const std::shared_ptr<c10d::ProcessGroupMPI> pg = c10d::ProcessGroupMPI::createProcessGroupMPI();
  const int rank = pg->getRank(), size = pg->getSize();
  REQUIRE(size == 3);
  CHECK(pg->getBackendName() == "mpi");

  std::vector<std::shared_ptr<::c10d::ProcessGroup::Work>> works;
  std::vector<torch::Tensor> sum = {torch::full({2}, rank + 1)}, most = {torch::full({2}, rank)};
  works.push_back(pg->allreduce(sum));
  c10d::AllreduceOptions options;
  options.reduceOp = c10d::ReduceOp::MAX;
  options.timeout = std::chrono::minutes(1);
  works.push_back(pg->allreduce(most, options));
  for (auto& work : works) CHECK(work->wait());
  CHECK(sum[0].equal(torch::full({2}, 6)));
  CHECK(most[0].equal(torch::full({2}, 2)));
  CHECK(works[0]->isCompleted());
  CHECK(works[0]->isSuccess());
  CHECK(works[0]->result().size() == 1);
  CHECK_THROWS_AS(works[0]->sourceRank(), torch::Error);

  std::vector<torch::Tensor> from_one = {torch::full({1}, rank)};
  c10d::BroadcastOptions root;
  root.rootRank = 1;
  pg->broadcast(from_one, root)->wait();
  CHECK(from_one[0].item<int>() == 1);

  std::vector<std::vector<torch::Tensor>> all = {
      {torch::zeros({1}), torch::zeros({1}), torch::zeros({1})}};
  std::vector<torch::Tensor> mine = {torch::full({1}, rank, torch::kFloat)};
  pg->allgather(all, mine)->wait();
  CHECK(torch::cat(all[0]).equal(torch::tensor({0.F, 1.F, 2.F})));
  std::vector<torch::Tensor> part = {torch::zeros({1})};
  pg->reduce_scatter(part, all)->wait();
  CHECK(part[0].item<float>() == 3.F * static_cast<float>(rank));

  std::vector<torch::Tensor> gathered = {torch::zeros({1}), torch::zeros({1}), torch::zeros({1})};
  std::vector<std::vector<torch::Tensor>> at_root;
  if (rank == 0) at_root.push_back(gathered);
  pg->gather(at_root, mine)->wait();
  if (rank == 0) CHECK(torch::cat(gathered).equal(torch::tensor({0.F, 1.F, 2.F})));
  pg->scatter(part, at_root)->wait();
  CHECK(part[0].item<float>() == static_cast<float>(rank));
  c10d::ReduceOptions product;
  product.reduceOp = c10d::ReduceOp::PRODUCT;
  std::vector<torch::Tensor> reduced = {torch::full({1}, rank + 1)};
  pg->reduce(reduced, product)->wait();
  if (rank == 0) CHECK(reduced[0].item<int>() == 6);
  std::vector<torch::Tensor> received = {torch::zeros({1}), torch::zeros({1}), torch::zeros({1})};
  pg->alltoall(received, all[0])->wait();
  CHECK(torch::cat(received).equal(torch::full({3}, rank, torch::kFloat)));

  if (rank == 0) pg->send(mine, 2, 5)->wait();
  if (rank == 2) {
    const c10::intrusive_ptr<c10d::Work> work = pg->recv(mine, 0, 5);
    work->wait();
    CHECK(work->sourceRank() == 0);
    CHECK(mine[0].item<float>() == 0);
  }
  pg->barrier()->wait();

  CHECK_THROWS_WITH_AS(pg->allreduce({}),
                       "allreduce: expected a list of one element, got a list of 0", torch::Error);
  const auto two = c10d::ProcessGroupMPI::createProcessGroupMPI({2, 0});
  CHECK((two == nullptr) == (rank == 1));
  if (two) CHECK(two->getRank() == (rank == 2 ? 0 : 1));
  ambit::distributed::destroy_process_group();
}

TEST_CASE("c10d's ProcessGroupMPI works with processes started by mpirun") {
  if (!has_mpi()) return;
  expect_success(on_ranks(3, "c10d child: collectives"));
}
