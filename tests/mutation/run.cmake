# Compiles each mutant of mutants.cmake, runs the tests that should notice it, and fails if
#   the unchanged source does not pass (a failure would then prove nothing),
#   a mutant's text is not in its file exactly once (the list has to follow the code),
#   a mutant does not compile, or
#   a mutant survives: every test passed.

# Compiles `source`, with what the overlay replaces, into the mutant tests of its folder, core or nn.
function(build source)
  string(REGEX MATCH "^[^/]+" folder "${source}")
  file(WRITE "${MUTANT}" "#include \"${source}\"\n")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" --build "${BUILD_DIR}" --config "${CONFIG}"
      --target mutant_${folder}_tests
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${output}\nmutant_${folder}_tests does not build with ${source}")
  endif()
endfunction()

# Runs the folder's tests in the files that match; `passed` and `failed` are set in the caller's
# scope. Both are false when no test ran.
function(run_tests folder files)
  execute_process(COMMAND "${MUTANT_${folder}_TESTS}" "--source-file=${files}"
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
  set(passed FALSE PARENT_SCOPE)
  set(failed FALSE PARENT_SCOPE)
  if(output MATCHES "Status: FAILURE" AND NOT result EQUAL 0)
    set(failed TRUE PARENT_SCOPE)
  elseif(output MATCHES "test cases: +[1-9]" AND output MATCHES "Status: SUCCESS")
    set(passed TRUE PARENT_SCOPE)
  endif()
endfunction()

# mutant(<what is wrong> <file> <source> <test> <text> <replacement>)
# file: where the text stands, once. source: what to compile, the file itself or a source that
# includes it. test: the test file is tests/<folder of source>/<test>_test.cpp.
function(mutant description file source test text replacement)
  file(READ "${SOURCE_DIR}/${file}" content)
  string(FIND "${content}" "${text}" first)
  string(FIND "${content}" "${text}" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    message(FATAL_ERROR "${description}: this text must stand in ${file} exactly once:\n${text}")
  endif()
  string(REPLACE "${text}" "${replacement}" content "${content}")
  file(WRITE "${OVERLAY}/${file}" "${content}")
  build("${source}")
  string(REGEX MATCH "^[^/]+" folder "${source}")
  run_tests(${folder} "*tests/${folder}/${test}_test.cpp")
  file(REMOVE "${OVERLAY}/${file}")
  if(failed)
    message(STATUS "caught: ${description}")
  else()
    message(STATUS "SURVIVED: ${description}")
    set_property(GLOBAL APPEND PROPERTY survivors "${description}")
  endif()
endfunction()

file(REMOVE_RECURSE "${OVERLAY}")
file(MAKE_DIRECTORY "${OVERLAY}")
function(expect_to_pass source folder files)
  build("${source}")
  run_tests(${folder} "${files}")
  if(NOT passed)
    message(FATAL_ERROR "the tests of ${folder} do not pass on the unchanged source")
  endif()
endfunction()
expect_to_pass("core/tape.cpp" core "*tests/core/ops/*")
expect_to_pass("nn/transformer/transformer_decoder_layer.cpp" nn "*tests/nn/trans*")

include("${CMAKE_CURRENT_LIST_DIR}/mutants.cmake")

get_property(survivors GLOBAL PROPERTY survivors)
if(survivors)
  list(JOIN survivors "\n  " survivors)
  message(FATAL_ERROR "no test noticed:\n  ${survivors}")
endif()
