# Runs all GPU tests with the CUDA backend on the host runtime. The program links no CUDA, which
# would replace the runtime.
set(cuda_tests ${PROJECT_SOURCE_DIR}/tests/cuda)
file(GLOB gpu_files CONFIGURE_DEPENDS ${cuda_tests}/gpu_*_test.cpp)
add_executable(ambit_cuda_gpu_tests
  ${PROJECT_SOURCE_DIR}/tests/main.cpp ${gpu_files} ${cuda_tests}/gpu_test.cpp
  ${cuda_tests}/programs_test.cpp)
target_include_directories(ambit_cuda_gpu_tests PRIVATE
  ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/backends/cuda/include)
target_link_libraries(ambit_cuda_gpu_tests PRIVATE
  ambit::ambit doctest::doctest Threads::Threads ${CMAKE_DL_LIBS})
set_source_files_properties(${cuda_tests}/gpu_torch_test.cpp PROPERTIES
  INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR}/torch/include)
add_dependencies(ambit_cuda_gpu_tests ambit_cuda_on_host ambit_backend_sim)
ambit_set_warnings(ambit_cuda_gpu_tests)

# add_plugin_test(<name> ENVIRONMENT <setting>... COMMAND <command>...): with CUDA on the host as
# the only GPU. Sanitizers replace dlopen, which then does not search the plugin's folder.
set(plugin_environment AMBIT_BACKEND_PATH=${folder} AMBIT_SIM=sim:1)
if(AMBIT_SANITIZE)
  list(APPEND plugin_environment LD_LIBRARY_PATH=${folder})
endif()
function(add_plugin_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ENVIRONMENT;COMMAND")
  add_test(NAME cuda_host_${name} COMMAND ${arg_COMMAND})
  set_tests_properties(cuda_host_${name} PROPERTIES TIMEOUT ${AMBIT_TEST_TIMEOUT}
    ENVIRONMENT "${plugin_environment};${arg_ENVIRONMENT}")
endfunction()

# Every kernel, with every check: on one GPU with its memory cache; and on the second of two without
# peer access, without the cache.
if(TARGET ambit_app)
  add_plugin_test(conformance
    ENVIRONMENT AMBIT_CUDA_HOST_SEED=1
    COMMAND ambit_app conformance --device cuda:0)
  add_plugin_test(conformance_uncached
    ENVIRONMENT AMBIT_CUDA_HOST=2 AMBIT_CUDA_HOST_SEED=2 AMBIT_CUDA_HOST_PEERS=0
      AMBIT_CUDA_HOST_PROCESSORS=132 AMBIT_CUDA_CACHE=0
    COMMAND ambit_app conformance --device cuda:1 --seed 2)
endif()

# Large tensors: only results are checked. Excluded: cases that fill a real GPU's memory.
set(not_here "*2^31*,*out of memory*")
add_plugin_test(gpu_test
  ENVIRONMENT AMBIT_CUDA_HOST_CHECKS=0
  COMMAND ambit_cuda_gpu_tests --source-file=*/gpu_test.cpp --no-intro
    --test-case-exclude=${not_here})
foreach(file IN LISTS gpu_files)
  cmake_path(GET file STEM name)
  add_plugin_test(${name}
    ENVIRONMENT AMBIT_CUDA_HOST=2 AMBIT_CUDA_HOST_SEED=4
    COMMAND ambit_cuda_gpu_tests --source-file=*/${name}.cpp --no-intro)
endforeach()
# GPUs without the tensor cores that attention uses.
add_plugin_test(gpu_attention_older_test
  ENVIRONMENT AMBIT_CUDA_HOST_ARCHITECTURE=75 AMBIT_CUDA_HOST_SEED=5
  COMMAND ambit_cuda_gpu_tests --source-file=*/gpu_attention_test.cpp --no-intro)
# Graphs own memory: test also without the memory cache, and with other orders of streams.
foreach(seed 1 2 3)
  add_plugin_test(gpu_graphs_seed_${seed}_test
    ENVIRONMENT AMBIT_CUDA_HOST=1 AMBIT_CUDA_HOST_SEED=${seed}
    COMMAND ambit_cuda_gpu_tests --source-file=*/gpu_graph*_test.cpp --no-intro
      --test-case-exclude=*memory*)
endforeach()
add_plugin_test(gpu_graphs_uncached_test
  ENVIRONMENT AMBIT_CUDA_HOST=1 AMBIT_CUDA_HOST_SEED=5 AMBIT_CUDA_CACHE=0
  COMMAND ambit_cuda_gpu_tests --source-file=*/gpu_graph*_test.cpp --no-intro
    "--test-case-exclude=*lack of memory*,*gives its memory*")
# ThreadSanitizer keeps 100 to 150 MB of each program.
set(programs 500)
if(AMBIT_SANITIZE MATCHES "thread")
  set(programs 20)
endif()
foreach(gpus 1 2)
  add_plugin_test(programs_${gpus}_test
    ENVIRONMENT AMBIT_CUDA_HOST=${gpus} AMBIT_CUDA_HOST_SEED=${gpus} AMBIT_PROGRAM_SEED=${gpus}001
      AMBIT_PROGRAMS=${programs}
    COMMAND ambit_cuda_gpu_tests --source-file=*/programs_test.cpp --no-intro)
endforeach()

# If cuSOLVER cannot be opened, the CPU's kernels are used. Here a file with its name is found
# first, but is not a library.
set(without_cusolver ${PROJECT_BINARY_DIR}/cuda_host_without_cusolver)
file(WRITE ${without_cusolver}/libcusolver.so.12 "no library\n")
add_plugin_test(linalg_without_cusolver
  ENVIRONMENT LD_LIBRARY_PATH=${without_cusolver}:${folder}
  COMMAND ambit_tests --source-file=*/linalg_test.cpp --no-intro)
if(TARGET ambit_app)
  add_plugin_test(info_without_cusolver
    ENVIRONMENT LD_LIBRARY_PATH=${without_cusolver}:${folder}
    COMMAND ambit_app info)
  set_tests_properties(cuda_host_info_without_cusolver PROPERTIES
    PASS_REGULAR_EXPRESSION "cuSOLVER +none .*the CPU's kernels run instead")
  add_plugin_test(info COMMAND ambit_app info)
  set_tests_properties(cuda_host_info PROPERTIES PASS_REGULAR_EXPRESSION "cuSOLVER +[0-9]")
endif()

# The whole suite, suite_files of tests/CMakeLists.txt. For the test that trains long, only results
# are checked.
set(long conformance conformance_uncached gpu_test)
foreach(file IN LISTS suite_files)
  cmake_path(GET file STEM name)
  list(APPEND long suite_${name})
  set(checks 1)
  if(name STREQUAL "reference_runs_test")
    set(checks 0)
  endif()
  add_plugin_test(suite_${name}
    ENVIRONMENT AMBIT_CUDA_HOST_CHECKS=${checks} AMBIT_TEST_DEVICE=cuda:0
    COMMAND ambit_tests --source-file=*/${name}.cpp --no-intro)
endforeach()
# Sanitizers see only host code, so these tests would find nothing new.
foreach(name IN LISTS long)
  if(TEST cuda_host_${name})
    set_tests_properties(cuda_host_${name} PROPERTIES LABELS "long;cuda_suite")
  endif()
endforeach()
