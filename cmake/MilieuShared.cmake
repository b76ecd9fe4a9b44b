# SPDX-License-Identifier: Apache-2.0
# libmilieu.so: the objects of all modules in one shared library. Only names of namespace milieu are
# exported, and of these only what public headers declare (base/export.h). Built if BUILD_SHARED_LIBS
# is on, else only when the target milieu_shared is asked for. docs/versioning.md has the policy.
get_property(modules GLOBAL PROPERTY MILIEU_MODULES)
get_property(objects GLOBAL PROPERTY MILIEU_OBJECTS)
list(REMOVE_ITEM modules testing)
list(TRANSFORM modules PREPEND milieu_ OUTPUT_VARIABLE shared_modules)

set(not_by_default EXCLUDE_FROM_ALL)
if(BUILD_SHARED_LIBS)
  set(not_by_default)
endif()
add_library(milieu_shared SHARED ${not_by_default})
set(outside)
foreach(module IN LISTS shared_modules)
  target_sources(milieu_shared PRIVATE $<TARGET_OBJECTS:${module}>)
  get_target_property(links ${module} LINK_LIBRARIES)
  list(FILTER links EXCLUDE REGEX "^milieu_|milieu_compiler")
  list(APPEND outside ${links})
endforeach()
foreach(object IN LISTS objects)
  target_sources(milieu_shared PRIVATE $<TARGET_OBJECTS:${object}>)
endforeach()
list(REMOVE_DUPLICATES outside)
target_link_libraries(milieu_shared PRIVATE ${outside})
target_include_directories(milieu_shared INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(milieu_shared INTERFACE cxx_std_20)
target_compile_definitions(milieu_shared INTERFACE
  $<BUILD_INTERFACE:$<$<BOOL:${MILIEU_ASSERT}>:MILIEU_ENABLE_ASSERT>>)
set(export_map ${PROJECT_SOURCE_DIR}/cmake/libmilieu.map)
# Calls from one part of the library to another need no table; -z now and relro as Debian has it.
target_link_options(milieu_shared PRIVATE -Wl,--version-script=${export_map}
  -Wl,-Bsymbolic-functions -Wl,-z,relro,-z,now)
if(NOT CMAKE_CXX_FLAGS MATCHES "sanitize")
  target_link_options(milieu_shared PRIVATE -Wl,--no-undefined)
endif()
set_target_properties(milieu_shared PROPERTIES OUTPUT_NAME milieu EXPORT_NAME milieu
  LINKER_LANGUAGE CXX LINK_DEPENDS ${export_map}
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
# Where installed programs find what they load: libmilieu.so, or ONNX Runtime if that is bundled. A
# library in /usr is found without being told.
set(MILIEU_RUNPATH_DIR ${MILIEU_RUNTIME_DIR})
if(BUILD_SHARED_LIBS)
  set(MILIEU_RUNPATH_DIR ${CMAKE_INSTALL_LIBDIR})
  if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    set(MILIEU_RUNPATH_DIR)
  endif()
endif()
if(MILIEU_RUNPATH_DIR)
  file(RELATIVE_PATH from_program /${CMAKE_INSTALL_BINDIR} /${MILIEU_RUNPATH_DIR})
  set(CMAKE_INSTALL_RPATH "$ORIGIN/${from_program}")
endif()
if(MILIEU_RUNTIME_DIR)
  file(RELATIVE_PATH from_library /${CMAKE_INSTALL_LIBDIR} /${MILIEU_RUNTIME_DIR})
  set_target_properties(milieu_shared PROPERTIES INSTALL_RPATH "$ORIGIN/${from_library}")
endif()
