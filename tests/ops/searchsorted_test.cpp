// searchsorted and bucketize of tensors of different dtypes.
#include <ambit/ambit.h>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

// PyTorch 2.15: s = torch.tensor([1, 3, 5, 7]); v = torch.tensor([2.5, 3, -1, 300.5]);
// torch.searchsorted(s, v), torch.bucketize(v, s, right=True), of every pair of dtypes.
TEST_CASE("searchsorted and bucketize promote mixed dtypes") {
  for_each_device([](Device d) {
    const Tensor s = tensor({1, 3, 5, 7}, d), v = tensor({2.5, 3., -1., 300.5}, d);
    const Tensor whole = tensor({2, 3, -1, 9}, d);
    const std::pair<DType, DType> pairs[] = {{kInt64, kFloat32},   {kFloat32, kInt64},
                                             {kInt32, kInt64},     {kFloat32, kFloat64},
                                             {kFloat16, kFloat32}, {kUInt8, kInt8}};
    for (const auto& [of_sorted, of_values] : pairs) {
      INFO(name(of_sorted), " ", name(of_values));
      const Tensor x = (is_floating_point(of_values) ? v : whole).to(of_values);
      check_values(searchsorted(s.to(of_sorted), x), {4}, {1, 1, 0, 4});
      check_values(bucketize(x, s.to(of_sorted)), {4}, {1, 1, 0, 4});
      check_values(bucketize(x, s.to(of_sorted), true, true), {4}, {1, 2, 0, 4});
    }
    check_values(searchsorted(s.to(kBool), whole), {4}, {4, 4, 0, 4});
    check_values(searchsorted(s, whole.to(kBool), false, true), {4}, {1, 1, 1, 1});
    check_values(searchsorted(s, tensor(2.5, d)), {}, {1});
    // Values are rounded to float32.
    check_values(searchsorted(tensor({16777217}, d), tensor({16777216.f}, d)), {1}, {0});
    const Tensor sorter = tensor({1, 2, 0}, d);
    check_values(searchsorted(tensor({5, 1, 3}, d), tensor({2.5, 4.}, d), false, false, {}, sorter),
                 {2}, {1, 2});
  });
}
