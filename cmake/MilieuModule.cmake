# SPDX-License-Identifier: Apache-2.0
# milieu_add_module(NAME
#   SOURCES ...      .cc and .h files, listed one by one (scripts/audit finds forgotten ones)
#   ISA_SOURCES ...  hot loops compiled once per instruction set (see below)
#   DEPENDS ...      modules above this one that its headers or sources include
#   LINKS ...        outside libraries, private to the module
#   TESTS ...        *_test.cc, one executable per module; CTest names are NAME/Suite.Test
#   SLOW_TESTS ...   likewise, labelled slow: left out of `make test`, run by `make check-all`
#   INTERNAL ...     headers that are not installed (*_internal.h and *_steps.h never are)
# )
# makes the static library milieu_NAME. Its objects are position independent and hidden but for what
# public headers export, so that libmilieu.so (MilieuShared) is made of the same ones. milieu::NAME is the
# static library, or all of libmilieu.so if BUILD_SHARED_LIBS is on: what programs link.
#
# An ISA source is compiled for x86-64, x86-64-v3 and x86-64-v4 with MILIEU_ISA set to baseline, v3
# or v4; it must put everything into `namespace MILIEU_ISA` and include no header with inline code
# that other files compile too (no Eigen, no <vector>): the linker could pick the wrong copy. Vectors
# and exp come from linalg/simd.h, linalg/simd_bits.h and linalg/simd_exp.h.

set(MILIEU_ISAS baseline)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND MILIEU_ISAS v3 v4)
endif()
set(MILIEU_ISA_FLAGS_v3 -march=x86-64-v3)
# GCC 12 copies vectors of several registers through memory in halves of a register by default, and
# every load of a whole one then waits: a factor of three in the loops of dlgmm.
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag("-march=x86-64-v3 -mmove-max=256 -mstore-max=256" MILIEU_HAS_MOVE_MAX)
if(MILIEU_HAS_MOVE_MAX)
  list(APPEND MILIEU_ISA_FLAGS_v3 -mmove-max=256 -mstore-max=256)
endif()
set(MILIEU_ISA_FLAGS_v4 -march=x86-64-v4 -mprefer-vector-width=512)

function(milieu_add_isa_sources target)
  foreach(isa IN LISTS MILIEU_ISAS)
    set(object ${target}_${isa})
    add_library(${object} OBJECT ${ARGN})
    target_compile_definitions(${object} PRIVATE MILIEU_ISA=${isa})
    # psabi: vectors wider than the registers never cross a function that is not inlined.
    target_compile_options(${object} PRIVATE -O3 -Wno-psabi ${MILIEU_ISA_FLAGS_${isa}})
    target_include_directories(${object} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${object} PRIVATE milieu_compiler)
    set_target_properties(${object} PROPERTIES POSITION_INDEPENDENT_CODE ON
      CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    set_property(GLOBAL APPEND PROPERTY MILIEU_OBJECTS ${object})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${object}>)
  endforeach()
endfunction()

function(milieu_add_module_tests name slow)
  if(NOT ARGN)
    return()
  endif()
  set(suffix test)
  set(labels unit)
  if(slow)
    set(suffix slow_test)
    set(labels slow)  # one word: gtest_discover_tests splits a list
  endif()
  set(test milieu_${name}_${suffix})
  add_executable(${test} ${ARGN})
  target_link_libraries(${test} PRIVATE milieu_compiler milieu_${name} milieu_base fmt::fmt
    $<TARGET_NAME_IF_EXISTS:milieu_testing> GTest::gmock GTest::gtest_main)
  gtest_discover_tests(${test} TEST_PREFIX ${name}/ DISCOVERY_MODE PRE_TEST
    PROPERTIES LABELS "${labels}" TIMEOUT 600
    ENVIRONMENT "MILIEU_SOURCE_DIR=${PROJECT_SOURCE_DIR}")
endfunction()

function(milieu_add_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" ""
    "SOURCES;ISA_SOURCES;DEPENDS;LINKS;TESTS;SLOW_TESTS;INTERNAL")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "milieu_add_module(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(target milieu_${name})
  add_library(${target} STATIC ${arg_SOURCES})
  if(BUILD_SHARED_LIBS)
    add_library(milieu_use_${name} INTERFACE)
    target_link_libraries(milieu_use_${name} INTERFACE milieu_shared)
    add_library(milieu::${name} ALIAS milieu_use_${name})
  else()
    add_library(milieu::${name} ALIAS ${target})
  endif()
  if(arg_ISA_SOURCES)
    milieu_add_isa_sources(${target} ${arg_ISA_SOURCES})
  endif()
  list(TRANSFORM arg_DEPENDS PREPEND milieu_)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  # The assertion switch changes inline code in headers, so users of a tree build need it as well.
  target_compile_definitions(${target} PUBLIC
    $<BUILD_INTERFACE:$<$<BOOL:${MILIEU_ASSERT}>:MILIEU_ENABLE_ASSERT>>)
  target_link_libraries(${target} PUBLIC ${arg_DEPENDS}
    PRIVATE $<BUILD_INTERFACE:milieu_compiler> ${arg_LINKS})
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  set(public_headers ${arg_SOURCES})
  list(FILTER public_headers INCLUDE REGEX "\\.h$")
  list(FILTER public_headers EXCLUDE REGEX "_(internal|steps)\\.h$")
  if(arg_INTERNAL)
    list(REMOVE_ITEM public_headers ${arg_INTERNAL})
  endif()
  foreach(header IN LISTS public_headers)
    get_filename_component(folder ${header} DIRECTORY)
    install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/milieu/${name}/${folder}
      COMPONENT dev)
  endforeach()
  set_property(GLOBAL APPEND PROPERTY MILIEU_MODULES ${name})
  if(MILIEU_BUILD_TESTS)
    milieu_add_module_tests(${name} FALSE ${arg_TESTS})
    milieu_add_module_tests(${name} TRUE ${arg_SLOW_TESTS})
  endif()
endfunction()
