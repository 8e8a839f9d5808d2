# Finds OpenBLAS with its C interface and makes the imported target CBLAS::CBLAS.
#
# Debian's OpenBLASConfig.cmake sets variables only, and /usr/include/<arch>/cblas.h may belong to
# another BLAS (the alternatives system decides). The folder that holds openblas_config.h is
# OpenBLAS's own: cblas.h is taken from there. A hint: -DCMAKE_PREFIX_PATH=/opt/OpenBLAS.
# Installed beside normlabConfig.cmake, so that consumers look it up in the same way.

set(_cblas_suffixes openblas-pthread openblas-openmp openblas-serial openblas)
find_path(CBLAS_INCLUDE_DIR NAMES openblas_config.h
  PATH_SUFFIXES ${_cblas_suffixes}
  DOC "The folder of OpenBLAS's cblas.h")
find_library(CBLAS_LIBRARY NAMES openblas
  PATH_SUFFIXES ${_cblas_suffixes}
  DOC "The OpenBLAS library")
mark_as_advanced(CBLAS_INCLUDE_DIR CBLAS_LIBRARY)
unset(_cblas_suffixes)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CBLAS
  REQUIRED_VARS CBLAS_LIBRARY CBLAS_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "OpenBLAS is missing: on Debian, apt-get install libopenblas-pthread-dev")

if(CBLAS_FOUND AND NOT TARGET CBLAS::CBLAS)
  add_library(CBLAS::CBLAS UNKNOWN IMPORTED)
  set_target_properties(CBLAS::CBLAS PROPERTIES
    IMPORTED_LOCATION "${CBLAS_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${CBLAS_INCLUDE_DIR}")
endif()
