# The package: find_package(normlab) from any prefix, moved ones included.
include(CMakePackageConfigHelpers)
set(normlab_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/normlab")

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/scripts/cmake/normlabConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/normlabConfig.cmake"
  INSTALL_DESTINATION "${normlab_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/normlabConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)

install(EXPORT normlabTargets NAMESPACE normlab:: DESTINATION "${normlab_package_dir}")
install(FILES
  "${PROJECT_BINARY_DIR}/normlabConfig.cmake"
  "${PROJECT_BINARY_DIR}/normlabConfigVersion.cmake"
  "${PROJECT_SOURCE_DIR}/scripts/cmake/FindCBLAS.cmake"
  DESTINATION "${normlab_package_dir}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES "${PROJECT_SOURCE_DIR}/data/README.md" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
  RENAME digits-attribution.md)
