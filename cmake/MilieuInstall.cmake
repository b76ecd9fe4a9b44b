# SPDX-License-Identifier: Apache-2.0
# Installed: headers (by milieu_add_module), static libraries, a CMake package, a pkg-config file.
include(CMakePackageConfigHelpers)
get_property(modules GLOBAL PROPERTY MILIEU_MODULES)
list(TRANSFORM modules PREPEND milieu_ OUTPUT_VARIABLE module_targets)

# milieu::milieu is everything.
add_library(milieu INTERFACE)
add_library(milieu::milieu ALIAS milieu)
target_link_libraries(milieu INTERFACE ${module_targets})

install(TARGETS milieu ${module_targets} milieu_spectra EXPORT milieu-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/milieu)
install(EXPORT milieu-targets NAMESPACE milieu:: DESTINATION ${package_dir})
configure_package_config_file(cmake/milieu-config.cmake.in milieu-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(milieu-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/milieu-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/milieu-config-version.cmake DESTINATION ${package_dir})

# Static libraries are listed from the top layer down, as one-pass linkers want them.
list(REVERSE module_targets)
list(TRANSFORM module_targets PREPEND -l)
list(JOIN module_targets " " MILIEU_PC_LIBS)
configure_file(cmake/milieu.pc.in milieu.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/milieu.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
