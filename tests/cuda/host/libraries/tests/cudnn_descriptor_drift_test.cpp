// Compares the emulation of cuDNN with the real library: tensors, convolutions, and the lifetime of
// descriptors.
#include <iterator>

#include "cudnn_drift.h"

using namespace host_libraries;

namespace {

struct Attempt {
  const char* what;
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type;
  int64_t count;
  const void* elements;
};

}  // namespace

TEST_CASE("tensors are accepted and refused as by the real cuDNN") {
  const int64_t negative[] = {2, -3, 8, 8}, empty[] = {2, 0, 8, 8},
                nine[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  const int64_t step_0[] = {192, 0, 8, 1}, step_negative[] = {192, 64, -8, 1};
  const int64_t one = 1, none = 0, three = 3, thirty_two = 32, below = -16;
  const int32_t narrow = 1;
  const bool yes = true;
  const cudnnDataType_t halves = CUDNN_DATA_HALF, wide = CUDNN_DATA_DOUBLE;
  constexpr auto kId = CUDNN_ATTR_TENSOR_UNIQUE_ID;
  constexpr auto kSizes = CUDNN_ATTR_TENSOR_DIMENSIONS, kStrides = CUDNN_ATTR_TENSOR_STRIDES;
  constexpr auto kAlignment = CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT;
  constexpr auto kType = CUDNN_ATTR_TENSOR_DATA_TYPE;
  const Attempt attempts[] = {
      {"id of 32 bits", kId, CUDNN_TYPE_INT32, 1, &narrow},
      {"two ids", kId, CUDNN_TYPE_INT64, 2, negative},
      {"no id", kId, CUDNN_TYPE_INT64, 0, &one},
      {"null", kId, CUDNN_TYPE_INT64, 1, nullptr},
      {"a type that is none", kId, static_cast<cudnnBackendAttributeType_t>(99), 1, &one},
      {"negative sizes", kSizes, CUDNN_TYPE_INT64, 4, negative},
      {"no elements", kSizes, CUDNN_TYPE_INT64, 4, empty},
      {"nine dims", kSizes, CUDNN_TYPE_INT64, 9, nine},
      {"fewer sizes than strides", kSizes, CUDNN_TYPE_INT64, 3, nine},
      {"no sizes", kSizes, CUDNN_TYPE_INT64, 0, nine},
      {"fewer than no sizes", kSizes, CUDNN_TYPE_INT64, -1, nine},
      {"a stride of 0", kStrides, CUDNN_TYPE_INT64, 4, step_0},
      {"a negative stride", kStrides, CUDNN_TYPE_INT64, 4, step_negative},
      {"alignment 0", kAlignment, CUDNN_TYPE_INT64, 1, &none},
      {"alignment 1", kAlignment, CUDNN_TYPE_INT64, 1, &one},
      {"alignment 3", kAlignment, CUDNN_TYPE_INT64, 1, &three},
      {"alignment 32", kAlignment, CUDNN_TYPE_INT64, 1, &thirty_two},
      {"a negative alignment", kAlignment, CUDNN_TYPE_INT64, 1, &below},
      {"halves", kType, CUDNN_TYPE_DATA_TYPE, 1, &halves},
      {"doubles aligned to 4 bytes", kType, CUDNN_TYPE_DATA_TYPE, 1, &wide},
      {"a dtype as a number", kType, CUDNN_TYPE_INT64, 1, &one},
      {"virtual", CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &yes},
      {"virtual as a number", CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_INT64, 1, &one},
      {"a list by value", CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &yes},
      {"another's attribute", CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &one},
      {"no attribute", static_cast<cudnnBackendAttributeName_t>(9999), CUDNN_TYPE_INT64, 1, &one},
  };
  for (const Attempt& a : attempts) {
    compare(a.what, [&](CudnnScript& s) {
      D d = s.tensor(kImage, /*finalized=*/false);
      s.set(d, a.name, a.type, a.count, a.elements);
      s.finalize(d);
    });
  }
  for (const auto name : {kId, kType, kAlignment, kSizes, kStrides}) {
    compare("without " + std::to_string(name), [&](CudnnScript& s) {
      D d = s.make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
      const cudnnDataType_t type = CUDNN_DATA_FLOAT;
      const int64_t alignment = 4;
      if (name != kId) s.set(d, kId, CUDNN_TYPE_INT64, one);
      if (name != kType) s.set(d, kType, CUDNN_TYPE_DATA_TYPE, type);
      if (name != kAlignment) s.set(d, kAlignment, CUDNN_TYPE_INT64, alignment);
      if (name != kSizes) s.set(d, kSizes, Sizes{2, 3});
      if (name != kStrides) s.set(d, kStrides, Sizes{3, 1});
      s.finalize(d);
    });
  }
}

TEST_CASE("descriptors have the states of the real cuDNN") {
  compare("null and unknown", [](CudnnScript& s) {
    s.note("create", s.api().create(nullptr));
    s.note("set_stream", s.api().set_stream(nullptr, nullptr));
    s.note("destroy", s.api().destroy(nullptr));
    s.finalize(nullptr);
    s.set(nullptr, CUDNN_ATTR_TENSOR_UNIQUE_ID, Sizes{1});
    s.make(static_cast<cudnnBackendDescriptorType_t>(999));
  });
  compare("finalized", [](CudnnScript& s) {
    D d = s.tensor(kImage);
    s.finalize(d);
    s.set(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, Sizes{7});
    int64_t count = 0, got[8] = {};
    const auto get = [&](cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                         int64_t room, void* to) {
      s.note("get", s.api().get(d, name, type, room, &count, to));
      s.note("count " + std::to_string(count), CUDNN_STATUS_SUCCESS);
    };
    get(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, got);
    get(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_FLOAT, 1, got);
    get(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 8, got);
    get(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 2, got);
    get(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 0, nullptr);
    get(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 8, got);
    D unfinished = s.tensor(kImage, /*finalized=*/false);
    s.note("get",
           s.api().get(unfinished, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &count, got));
  });
  compare("properties", [](CudnnScript& s) {
    properties(s);
    D d = s.make(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
    s.set(d, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, 3, "{ab");
    s.finalize(d);
  });
  for (const int status : {0, 1001, 2000, 2002, 2004, 2010, 3000, 5000, 5003, 77}) {
    compare("names", [&](CudnnScript& s) {
      s.note(s.api().error_string(static_cast<cudnnStatus_t>(status)), CUDNN_STATUS_SUCCESS);
    });
  }
}

TEST_CASE("convolutions are accepted and refused as by the real cuDNN") {
  const auto with = [](auto change) {
    ConvSpec spec = kConv;
    change(spec);
    return spec;
  };
  const ConvSpec specs[] = {
      kConv,
      with([](ConvSpec& c) {
        c.stride = {0, 1};
      }),
      with([](ConvSpec& c) {
        c.stride = {-1, 1};
      }),
      with([](ConvSpec& c) {
        c.dilation = {0, 1};
      }),
      with([](ConvSpec& c) {
        c.before = {-1, 0};
      }),
      with([](ConvSpec& c) {
        c.after = {0, -1};
      }),
      with([](ConvSpec& c) {
        c.after = {1, 1, 1};
      }),
      with([](ConvSpec& c) { c.before = {1}; }),
      with([](ConvSpec& c) { c.dilation = {1}; }),
      with([](ConvSpec& c) { c.compute = CUDNN_DATA_DOUBLE; }),
      with([](ConvSpec& c) { c.mode = CUDNN_CONVOLUTION; }),
      with([](ConvSpec& c) { c.mode = static_cast<cudnnConvolutionMode_t>(9); }),
  };
  for (size_t i = 0; i < std::size(specs); ++i) {
    compare(std::to_string(i), [&](CudnnScript& s) { s.convolution(specs[i]); });
  }
  for (int left_out = 0; left_out < 7; ++left_out) {
    compare("without " + std::to_string(left_out), [&](CudnnScript& s) {
      const cudnnDataType_t type = CUDNN_DATA_FLOAT;
      const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
      D d = s.make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
      if (left_out != 0) s.set(d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, type);
      if (left_out != 1) {
        s.set(d, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, mode);
      }
      if (left_out != 2) s.set(d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, Sizes{2});
      if (left_out != 3) s.set(d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, Sizes{1, 1});
      if (left_out != 4) s.set(d, CUDNN_ATTR_CONVOLUTION_DILATIONS, Sizes{1, 1});
      if (left_out != 5) s.set(d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, Sizes{1, 1});
      if (left_out != 6) s.set(d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, Sizes{1, 1});
      s.finalize(d);
    });
  }
  compare("types", [](CudnnScript& s) {
    const int64_t one = 1;
    D d = s.convolution(kConv, /*finalized=*/false);
    s.set(d, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_INT64, one);
    s.set(d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_INT64, one);
    s.set(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, one);
    s.finalize(d);
  });
}
