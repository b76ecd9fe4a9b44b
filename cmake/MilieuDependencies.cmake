# SPDX-License-Identifier: Apache-2.0
# Everything outside comes from Debian through find_package; nothing is downloaded.
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(TBB REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json 3 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(FastFloat REQUIRED)
# oneDNN's CMake package asks for OpenCL, which its CPU part does not need: modules link the plain
# name `dnnl`.
find_path(MILIEU_DNNL_INCLUDE oneapi/dnnl/dnnl.h REQUIRED)
find_library(MILIEU_DNNL_LIBRARY dnnl REQUIRED)
find_package(nanoflann REQUIRED)
find_path(MILIEU_SPECTRA_INCLUDE Spectra/SymEigsSolver.h REQUIRED)
add_library(milieu_spectra INTERFACE)
target_include_directories(milieu_spectra SYSTEM INTERFACE ${MILIEU_SPECTRA_INCLUDE})
target_link_libraries(milieu_spectra INTERFACE Eigen3::Eigen)
# Debian's OpenCV parts and VLFeat come without their own CMake packages: modules link the plain
# names.
find_path(MILIEU_OPENCV_INCLUDE opencv2/core.hpp PATH_SUFFIXES opencv4 REQUIRED)
find_path(MILIEU_VLFEAT_INCLUDE vl/generic.h REQUIRED)
add_library(milieu_opencv INTERFACE)
target_include_directories(milieu_opencv SYSTEM INTERFACE ${MILIEU_OPENCV_INCLUDE})
if(MILIEU_BUILD_CLI)
  find_package(CLI11 REQUIRED)
endif()
if(MILIEU_BUILD_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
if(MILIEU_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()
