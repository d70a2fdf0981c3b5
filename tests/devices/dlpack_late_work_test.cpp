// DLPack with queued work on the exported memory, on simulated devices.
#include <ambit/ambit.h>
#include <ambit/dlpack.h>
#include <ambit/dlpack_abi.h>
#include <ambit/sim.h>
#include <doctest/doctest.h>

using namespace ambit;

TEST_CASE("memory is exported, and released, after the queued work on it") {
  const Device sim("sim:0");
  const sim::Controls& controls = sim::controls();
  controls.set_queue_limit(sim, 1000);
  const Tensor x = zeros({4}, sim);
  x.add_(1);
  CHECK(controls.queued(sim) > 0);
  DLManagedTensor* lent = to_dlpack(x);
  CHECK(controls.queued(sim) == 0);
  CHECK(static_cast<const float*>(controls.device_view(sim, lent->dl_tensor.data))[0] == 1);

  struct Seen {
    DLManagedTensor* lent;
    float value = 0;
  } seen{lent};
  DLManagedTensor passed_on = *lent;
  passed_on.manager_ctx = &seen;
  passed_on.deleter = [](DLManagedTensor* m) {
    auto* s = static_cast<Seen*>(m->manager_ctx);
    s->value = *static_cast<const float*>(
        sim::controls().device_view(Device("sim:0"), s->lent->dl_tensor.data));
    s->lent->deleter(s->lent);
  };
  {
    const Tensor y = from_dlpack(&passed_on, {.device = sim});
    y.add_(1);
    CHECK(controls.queued(sim) > 0);
  }
  CHECK(seen.value == 2);
  // stream -1: the exporter does not wait.
  x.add_(1);
  DLManagedTensor* at_once = to_dlpack(x, {.stream = -1});
  CHECK(controls.queued(sim) > 0);
  at_once->deleter(at_once);
  controls.reset(sim);
}

TEST_CASE("an error in queued work on imported memory is reported") {
  const Device sim("sim:0");
  const sim::Controls& controls = sim::controls();
  controls.set_queue_limit(sim, 1000);
  {
    DLManagedTensor* lent = to_dlpack(zeros({4}, sim));
    DLManagedTensor passed_on = *lent;
    passed_on.manager_ctx = lent;
    passed_on.deleter = [](DLManagedTensor* m) {
      auto* l = static_cast<DLManagedTensor*>(m->manager_ctx);
      l->deleter(l);
    };
    const Tensor y = from_dlpack(&passed_on, {.device = sim});
    controls.fail_kernel(sim, "", 1);
    y.add_(1);
  }
  CHECK_THROWS_AS(synchronize(sim), BackendError);
  controls.reset(sim);
}
