# How every target of the project is compiled, and how a folder becomes a target.

# Flags that stay with the target (PRIVATE): a consumer's warnings are its own business.
# Contraction is off so that a*b + c rounds the same way on every machine; fast-math is never on.
# The prefix map keeps this checkout's path out of the binaries (__FILE__ in assert).
function(normlab_compile_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
    -ffp-contract=off
    "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/="
    "$<$<CONFIG:Release>:-O3>"
    "$<$<AND:$<CONFIG:Release>,$<BOOL:${NORMLAB_NATIVE}>>:-march=native>"
    "$<$<BOOL:${NORMLAB_WERROR}>:-Werror>")
  if(NORMLAB_SANITIZE)
    target_compile_options(${target} PRIVATE
      -fsanitize=${NORMLAB_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC "$<BUILD_INTERFACE:-fsanitize=${NORMLAB_SANITIZE}>")
  endif()
endfunction()

# normlab_room(<name> SOURCES a.cpp ... [PUBLIC lib ...] [PRIVATE lib ...])
# The sources of one folder as the target normlab_<name>, used as normlab::<name>; static unless
# BUILD_SHARED_LIBS. A program links only the rooms that it needs. Installs the headers of the
# folder, without those of the folders inside it.
function(normlab_room name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;PUBLIC;PRIVATE")
  set(target normlab_${name})
  file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  add_library(${target} ${arg_SOURCES})
  add_library(normlab::${name} ALIAS ${target})
  normlab_compile_options(${target})
  target_compile_definitions(${target} PRIVATE NORMLAB_VERSION="${PROJECT_VERSION}")
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${name}
    POSITION_INDEPENDENT_CODE ON
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    INSTALL_RPATH "$ORIGIN")
  target_include_directories(${target} PUBLIC
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/normlab>")
  target_link_libraries(${target} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})

  install(TARGETS ${target} EXPORT normlabTargets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  file(GLOB headers CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.hpp")
  install(FILES ${headers} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/normlab/${folder}")
endfunction()

# normlab_house(<name> room ...): normlab::<name> stands for all of these rooms. It is what users of
# the installed package link.
function(normlab_house name)
  add_library(normlab_${name} INTERFACE)
  add_library(normlab::${name} ALIAS normlab_${name})
  set_target_properties(normlab_${name} PROPERTIES EXPORT_NAME ${name})
  list(TRANSFORM ARGN PREPEND normlab::)
  target_link_libraries(normlab_${name} INTERFACE ${ARGN})
  install(TARGETS normlab_${name} EXPORT normlabTargets)
endfunction()

# normlab_experiment(<name> SOURCES a.cpp ... LINK lib ...): the room of one experiment, and its
# program. The program is installed to bin, where it finds shared libraries relative to itself, so
# that a moved prefix still works.
function(normlab_experiment name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  normlab_room(${name} SOURCES ${arg_SOURCES} PUBLIC ${arg_LINK})
  set(entry "${CMAKE_CURRENT_BINARY_DIR}/${name}_program.cpp")
  file(CONFIGURE OUTPUT "${entry}" @ONLY CONTENT [[
namespace normlab::@name@ {
int main(int argc, const char* const* argv);
}
int main(int argc, char** argv) { return normlab::@name@::main(argc, argv); }
]])
  add_executable(${name} "${entry}")
  normlab_compile_options(${name})
  target_link_libraries(${name} PRIVATE normlab::${name})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin"
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS ${name} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endfunction()
