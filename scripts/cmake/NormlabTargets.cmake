# How every target of the project is compiled, and how a library folder becomes a target.

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

# normlab_library(<name> SOURCES a.cpp ... [PUBLIC lib ...] [PRIVATE lib ...])
# The target normlab_<name>, used as normlab::<name>; static unless BUILD_SHARED_LIBS. Installs the
# headers of its folder.
function(normlab_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;PUBLIC;PRIVATE")
  set(target normlab_${name})
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME folder)
  add_library(${target} ${arg_SOURCES})
  add_library(normlab::${name} ALIAS ${target})
  normlab_compile_options(${target})
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
  install(DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}/"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/normlab/${folder}"
    FILES_MATCHING PATTERN "*.hpp")
endfunction()

# normlab_program(<name> SOURCES main.cpp LINK lib ...): a program installed to bin, which finds
# shared libraries relative to itself, so that a moved prefix still works.
function(normlab_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_executable(${name} ${arg_SOURCES})
  normlab_compile_options(${name})
  target_compile_definitions(${name} PRIVATE NORMLAB_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${name} PRIVATE ${arg_LINK})
  set_target_properties(${name} PROPERTIES
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS ${name} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endfunction()
