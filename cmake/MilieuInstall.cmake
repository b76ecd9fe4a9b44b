# SPDX-License-Identifier: Apache-2.0
# Installed: headers (by milieu_add_module), static libraries and, if BUILD_SHARED_LIBS is on,
# libmilieu.so, a CMake package, pkg-config files. All of them may be moved to another prefix.
# tests/install proves each by a small user project.
include(CMakePackageConfigHelpers)
get_property(modules GLOBAL PROPERTY MILIEU_MODULES)
list(TRANSFORM modules PREPEND milieu_ OUTPUT_VARIABLE module_targets)

# Outside libraries of the modules: what a user must link, and what only our sources include.
set(MILIEU_HEADER_ONLY
  Eigen3::Eigen nlohmann_json::nlohmann_json FastFloat::fast_float nanoflann::nanoflann
  milieu_spectra)
set(MILIEU_FLAG_TBB::tbb -ltbb)
set(MILIEU_FLAG_fmt::fmt -lfmt)
set(MILIEU_FLAG_ZLIB::ZLIB -lz)

# Takes the header-only libraries out of what users of `target` link, so that they need not have
# them, and appends the linker flags of the others to the list `flags`.
function(milieu_collect_links target flags)
  get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
  set(kept)
  set(found ${${flags}})
  foreach(link IN LISTS links)
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" name "${link}")
    if(name IN_LIST MILIEU_HEADER_ONLY)
      continue()
    endif()
    list(APPEND kept "${link}")
    if(DEFINED MILIEU_FLAG_${name})
      list(APPEND found ${MILIEU_FLAG_${name}})
    elseif(name MATCHES "::")
      message(FATAL_ERROR "${target} links ${name}: give its flag as MILIEU_FLAG_${name} in "
                          "cmake/MilieuInstall.cmake and find it in milieu-config.cmake.in")
    elseif(NOT name MATCHES "^milieu_|BUILD_INTERFACE")
      list(APPEND found -l${name})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${kept}")
  list(REMOVE_DUPLICATES found)
  set(${flags} ${found} PARENT_SCOPE)
endfunction()
set(outside_flags)
foreach(target IN LISTS module_targets)
  milieu_collect_links(${target} outside_flags)
endforeach()

# milieu::milieu is everything.
add_library(milieu INTERFACE)
target_link_libraries(milieu INTERFACE ${module_targets})
if(BUILD_SHARED_LIBS)
  add_library(milieu::milieu ALIAS milieu_shared)
else()
  add_library(milieu::milieu ALIAS milieu)
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/milieu)
install(TARGETS milieu ${module_targets} EXPORT milieu-static-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(EXPORT milieu-static-targets NAMESPACE milieu:: DESTINATION ${package_dir} COMPONENT dev)
if(BUILD_SHARED_LIBS)
  install(TARGETS milieu_shared EXPORT milieu-shared-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT dev)
  install(EXPORT milieu-shared-targets NAMESPACE milieu:: DESTINATION ${package_dir} COMPONENT dev)
endif()
list(JOIN modules " " MILIEU_COMPONENTS)
set(MILIEU_SHARED_COMPONENT)
if(BUILD_SHARED_LIBS)
  set(MILIEU_SHARED_COMPONENT " shared")
endif()
configure_package_config_file(cmake/milieu-config.cmake.in milieu-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(milieu-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/milieu-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/milieu-config-version.cmake DESTINATION ${package_dir} COMPONENT dev)

# milieu-static.pc links the static libraries, milieu.pc the shared one where it is installed.
# Static libraries are listed from the top layer down, as one-pass linkers require.
set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH MILIEU_PC_PREFIX /${pc_dir} /)
list(REVERSE module_targets)
list(TRANSFORM module_targets PREPEND -l)
list(JOIN module_targets " " static_libs)
list(JOIN outside_flags " " outside_libs)
set(static_libs "${static_libs} ${outside_libs} ${MILIEU_PC_RUNTIME_FLAG} -lstdc++ -lm -lpthread")
function(milieu_install_pc name libs)
  set(MILIEU_PC_NAME ${name})
  set(MILIEU_PC_LIBS "${libs}")
  configure_file(cmake/milieu.pc.in ${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${pc_dir} COMPONENT dev)
endfunction()
milieu_install_pc(milieu-static "${static_libs}")
if(BUILD_SHARED_LIBS)
  milieu_install_pc(milieu -lmilieu)
else()
  milieu_install_pc(milieu "${static_libs}")
endif()
