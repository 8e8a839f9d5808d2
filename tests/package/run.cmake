# Installs the build tree, moves the prefix, and builds and runs a consumer of it: what a user of
# find_package(normlab) does, with nothing known but the prefix. Any failing step fails the test.
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(prefix "${WORK_DIR}/moved")
file(REMOVE_RECURSE "${WORK_DIR}")
run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --config "${CONFIG}" --prefix "${WORK_DIR}/installed")
file(RENAME "${WORK_DIR}/installed" "${prefix}")

set(cxx_flags "")
if(SANITIZE)
  set(cxx_flags "-fsanitize=${SANITIZE}")
endif()
run("${CMAKE_COMMAND}" -S "${CONSUMER_DIR}" -B "${WORK_DIR}/build" -G "${GENERATOR}"
  "-DCMAKE_BUILD_TYPE=${CONFIG}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}"
  "-DCMAKE_CXX_FLAGS=${cxx_flags}" "-DCMAKE_PREFIX_PATH=${prefix}"
  -DCMAKE_FIND_PACKAGE_NO_PACKAGE_REGISTRY=ON)
run("${CMAKE_COMMAND}" --build "${WORK_DIR}/build" --config "${CONFIG}")
run("${WORK_DIR}/build/consumer")

# The project of docs/adding-a-norm.md, and every command of that page on sizes that take no time.
run("${CMAKE_COMMAND}" -S "${SOURCE_DIR}/docs/examples/my_norm" -B "${WORK_DIR}/my_norm"
  -G "${GENERATOR}" "-DCMAKE_BUILD_TYPE=${CONFIG}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}"
  "-DCMAKE_CXX_FLAGS=${cxx_flags}" "-DCMAKE_PREFIX_PATH=${prefix}"
  -DCMAKE_FIND_PACKAGE_NO_PACKAGE_REGISTRY=ON)
run("${CMAKE_COMMAND}" --build "${WORK_DIR}/my_norm" --config "${CONFIG}")
set(my_norm "${WORK_DIR}/my_norm/my_norm")
execute_process(COMMAND "${my_norm}" check OUTPUT_VARIABLE findings COMMAND_ERROR_IS_FATAL ANY)
file(READ "${SOURCE_DIR}/docs/examples/my_norm/check.txt" expected)
if(NOT findings STREQUAL expected)
  message(FATAL_ERROR "my_norm check printed:\n${findings}instead of:\n${expected}")
endif()
set(tiny --seeds 0 --images 2)
run("${my_norm}" norm_card --norm meanabs)
run("${my_norm}" compare_norms --norm layernorm rmsnorm meanabs --placement post pre
  --layers 1 2 ${tiny})
run("${my_norm}" init_gradients --norm meanabs --layers 1 ${tiny})
run("${my_norm}" attention_logits --qk-norm none meanabs ${tiny})
set(tiny --norm meanabs --layers 1 --width 8)
run("${my_norm}" train_digits ${tiny} --epochs 1 --warmup 0)
run("${my_norm}" train_translation ${tiny} --examples 60 --epochs 1 --warmup 0)
run("${my_norm}" gradient_flow ${tiny} --steps 2 --warmup 0)
execute_process(COMMAND "${my_norm}" nonsense RESULT_VARIABLE code ERROR_VARIABLE message)
if(NOT code EQUAL 2 OR NOT message MATCHES "must be one of attention_logits")
  message(FATAL_ERROR "my_norm nonsense: exit code ${code}: ${message}")
endif()

# The installed programs run from a foreign directory, and nothing installed names this checkout.
file(GLOB programs "${prefix}/bin/*")
foreach(program IN LISTS programs)
  execute_process(COMMAND "${program}" --version WORKING_DIRECTORY / COMMAND_ERROR_IS_FATAL ANY)
endforeach()
# With the data that it needs.
execute_process(
  COMMAND "${prefix}/bin/init_gradients" --images 2 --layers 1 --width 4 --heads 2 --ffn 3
  WORKING_DIRECTORY / OUTPUT_VARIABLE tables COMMAND_ERROR_IS_FATAL ANY)
if(NOT tables MATCHES "patches \\(2, 16, 4\\) pixel mean")
  message(FATAL_ERROR "the installed init_gradients printed:\n${tables}")
endif()
if(SANITIZE)
  return()  # UBSan stores source paths for its reports, whatever the prefix map says
endif()
file(GLOB_RECURSE installed "${prefix}/*")
foreach(file IN LISTS installed)
  file(STRINGS "${file}" lines REGEX "/")
  string(FIND "${lines}" "${SOURCE_DIR}/" position)
  if(NOT position EQUAL -1)
    message(FATAL_ERROR "${file} names the source folder ${SOURCE_DIR}")
  endif()
endforeach()
