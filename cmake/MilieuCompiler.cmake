# SPDX-License-Identifier: Apache-2.0
# Compiler settings shared by all targets, carried by one interface target: no global flags.
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
find_program(MILIEU_CCACHE ccache)
if(MILIEU_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${MILIEU_CCACHE})
endif()

add_library(milieu_compiler INTERFACE)
target_compile_features(milieu_compiler INTERFACE cxx_std_20)
target_compile_options(milieu_compiler INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>  # GCC 12 sees overlaps in std::string that are not there
  $<$<BOOL:${MILIEU_WARNINGS_AS_ERRORS}>:-Werror>
  # a*b+c is rounded twice everywhere, so that bits do not depend on the compiler's choice of FMA;
  # ISA loops ask for FMA by intrinsics.
  -ffp-contract=off)
target_compile_definitions(milieu_compiler INTERFACE
  $<$<BOOL:${MILIEU_ASSERT}>:MILIEU_ENABLE_ASSERT>
  $<$<BOOL:${MILIEU_ASSERT}>:EIGEN_INITIALIZE_MATRICES_BY_NAN>
  EIGEN_MPL2_ONLY EIGEN_DONT_PARALLELIZE)
