#include "descriptors.h"

#include <memory>

#include "tests/cuda/host/libraries/handle.h"

namespace ambit::cuda::host::cublaslt {
namespace {

// Sizes of the attributes in bytes, by number, as documented in cublasLt.h (which has no 16).
constexpr std::array<uint8_t, 39> kDescSizes{4, 4, 4, 4, 4, 4, 4, 4, 8, 0, 8, 8, 8,
                                             8, 8, 4, 4, 8, 8, 8, 8, 8, 4, 8, 8, 1,
                                             4, 0, 0, 0, 0, 4, 4, 4, 4, 4, 8, 4, 8};
constexpr std::array<uint8_t, 9> kLayoutSizes{4, 4, 8, 8, 8, 4, 8, 8, 4};
constexpr std::array<uint8_t, 13> kPreferenceSizes{4, 8, 0, 4, 0, 4, 4, 4, 4, 4, 0, 0, 8};

}  // namespace

MatmulDesc::MatmulDesc(cublasComputeType_t compute, cudaDataType_t scale) : Attributes(kDescSizes) {
  put(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, static_cast<int32_t>(compute));
  put(CUBLASLT_MATMUL_DESC_SCALE_TYPE, static_cast<int32_t>(scale));
  put(CUBLASLT_MATMUL_DESC_FILL_MODE, static_cast<int32_t>(CUBLAS_FILL_MODE_FULL));
  put(CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<uint32_t>(CUBLASLT_EPILOGUE_DEFAULT));
  put(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, int32_t{-1});  // the type of D
}

MatrixLayout::MatrixLayout(cudaDataType_t type, uint64_t rows, uint64_t columns, int64_t ld)
    : Attributes(kLayoutSizes) {
  put(CUBLASLT_MATRIX_LAYOUT_TYPE, static_cast<uint32_t>(type));
  put(CUBLASLT_MATRIX_LAYOUT_ROWS, rows);
  put(CUBLASLT_MATRIX_LAYOUT_COLS, columns);
  put(CUBLASLT_MATRIX_LAYOUT_LD, ld);
  put(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, int32_t{1});
}

Preference::Preference() : Attributes(kPreferenceSizes) {
  put(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, uint32_t{CUBLASLT_REDUCTION_SCHEME_MASK});
  for (const int name :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    put(name, uint32_t{256});
  }
  put(CUBLASLT_MATMUL_PREF_IMPL_MASK, ~uint64_t{0});
}

// All these objects are leaked, because programs may destroy descriptors as late as at exit.
Live<cublasLtContext>& handles() {
  static auto* live = new Live<cublasLtContext>("cublasLtHandle_t");
  return *live;
}
Live<MatmulDesc>& matmul_descs() {
  static auto* live = new Live<MatmulDesc>("cublasLtMatmulDesc_t");
  return *live;
}
Live<MatrixLayout>& layouts() {
  static auto* live = new Live<MatrixLayout>("cublasLtMatrixLayout_t");
  return *live;
}
Live<Preference>& preferences() {
  static auto* live = new Live<Preference>("cublasLtMatmulPreference_t");
  return *live;
}

}  // namespace ambit::cuda::host::cublaslt

namespace {

using namespace ambit::cuda::host;
using namespace ambit::cuda::host::cublaslt;

template <class Handle, class T, class... Arguments>
cublasStatus_t create(Live<T>& live, Handle* to, Arguments... arguments) {
  if (!to) return CUBLAS_STATUS_INVALID_VALUE;
  *to = reinterpret_cast<Handle>(live.add(std::make_unique<T>(arguments...)));
  return CUBLAS_STATUS_SUCCESS;
}

template <class T>
cublasStatus_t destroy(Live<T>& live, const void* handle) {
  if (handle) live.remove(handle);
  return CUBLAS_STATUS_SUCCESS;
}

template <class T>
cublasStatus_t set(Live<T>& live, const void* handle, int name, const void* value, size_t bytes) {
  if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
  return live.get(handle).set(name, value, bytes);
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
  return create_handle(handles(), handle) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

const char* cublasLtGetStatusName(cublasStatus_t status) {
  switch (status) {
#define AMBIT_NAME(name) \
  case name:             \
    return #name;
    AMBIT_NAME(CUBLAS_STATUS_SUCCESS)
    AMBIT_NAME(CUBLAS_STATUS_NOT_INITIALIZED)
    AMBIT_NAME(CUBLAS_STATUS_ALLOC_FAILED)
    AMBIT_NAME(CUBLAS_STATUS_INVALID_VALUE)
    AMBIT_NAME(CUBLAS_STATUS_ARCH_MISMATCH)
    AMBIT_NAME(CUBLAS_STATUS_MAPPING_ERROR)
    AMBIT_NAME(CUBLAS_STATUS_EXECUTION_FAILED)
    AMBIT_NAME(CUBLAS_STATUS_INTERNAL_ERROR)
    AMBIT_NAME(CUBLAS_STATUS_NOT_SUPPORTED)
    AMBIT_NAME(CUBLAS_STATUS_LICENSE_ERROR)
#undef AMBIT_NAME
  }
  return "unrecognized status";
}

const char* cublasLtGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "the library was not initialized";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "the resource allocation failed";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "an unsupported value or parameter was passed to the function";
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return "the function requires an architectural feature absent from the device";
    case CUBLAS_STATUS_MAPPING_ERROR:
      return "an access to GPU memory space failed";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "the function failed to launch on the GPU";
    case CUBLAS_STATUS_INTERNAL_ERROR:
      return "an internal operation failed";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "the requested functionality is not supported";
    case CUBLAS_STATUS_LICENSE_ERROR:
      return "the license check failed";
  }
  return "unrecognized status";
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  return create(matmul_descs(), desc, compute, scale);
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
  return destroy(matmul_descs(), desc);
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                                              cublasLtMatmulDescAttributes_t name,
                                              const void* value, size_t bytes) {
  return set(matmul_descs(), desc, name, value, bytes);
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t ld) {
  return create(layouts(), layout, type, rows, columns, ld);
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return destroy(layouts(), layout);
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t name,
                                                const void* value, size_t bytes) {
  return set(layouts(), layout, name, value, bytes);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return create(preferences(), preference);
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return destroy(preferences(), preference);
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t name,
                                                    const void* value, size_t bytes) {
  return set(preferences(), preference, name, value, bytes);
}

}  // extern "C"
