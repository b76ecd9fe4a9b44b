# SPDX-License-Identifier: Apache-2.0
# Debian packages by CPack, made by `make deb` (packaging/debian): one per installed component. What
# they depend on is found by dpkg-shlibdeps; docs/packaging.md says what is in which.
if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr" OR NOT BUILD_SHARED_LIBS)
  return()  # a private installation is not packed
endif()
set(packages ${PROJECT_SOURCE_DIR}/packaging/debian)
set(revision 1)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The Milieu developers <milieu@localhost.localdomain>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${revision})
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
# Before 1.0 the binary interface may change with any version (docs/versioning.md): exactly this one.
set(exactly "(= ${PROJECT_VERSION}-${revision})")
set(library libmilieu${PROJECT_VERSION_MAJOR})
file(CONFIGURE OUTPUT shlibs CONTENT "libmilieu @PROJECT_VERSION_MAJOR@ @library@ @exactly@\n" @ONLY)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
  GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${packages}/prepare.cmake)
set(CPACK_COMPONENTS_ALL)

# milieu_add_package(COMPONENT NAME SECTION SUMMARY DESCRIPTION), then its dependencies as variables.
function(milieu_add_package component name section summary description)
  string(TOUPPER ${component} key)
  set(prefix CPACK_DEBIAN_${key}_PACKAGE)
  set(${prefix}_NAME ${name} PARENT_SCOPE)
  set(${prefix}_SECTION ${section} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_DESCRIPTION "${summary}\n${description}" PARENT_SCOPE)
  set(CPACK_COMPONENT_${key}_DESCRIPTION "${summary}\n${description}" PARENT_SCOPE)
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} PARENT_SCOPE)
  # Every package has the licence, those of the parts inside it, and Debian's changelog.
  set(doc ${CMAKE_INSTALL_DATADIR}/doc/${name})
  install(FILES ${packages}/copyright ${CMAKE_CURRENT_BINARY_DIR}/changelog.Debian.gz
    DESTINATION ${doc} COMPONENT ${component})
  set(overrides ${packages}/lintian-overrides)
  if(EXISTS ${packages}/${name}.lintian-overrides)
    list(APPEND overrides ${packages}/${name}.lintian-overrides)
  endif()
  execute_process(COMMAND cat ${overrides} OUTPUT_FILE ${CMAKE_CURRENT_BINARY_DIR}/overrides-${name}
    COMMAND_ERROR_IS_FATAL ANY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/overrides-${name}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT ${component} RENAME ${name})
endfunction()

# The time of the commit, so that packages made of the same sources are the same.
execute_process(COMMAND ${packages}/changelog ${PROJECT_VERSION}-${revision}
  OUTPUT_FILE ${CMAKE_CURRENT_BINARY_DIR}/changelog.Debian WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND gzip -9nfk ${CMAKE_CURRENT_BINARY_DIR}/changelog.Debian COMMAND_ERROR_IS_FATAL ANY)

# What the explorer's page holds comes from npm.
if(MILIEU_BUILD_SERVER)
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/packaging/page_licences ${CMAKE_CURRENT_BINARY_DIR}/page-licences.txt
    COMMAND_ERROR_IS_FATAL ANY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/page-licences.txt
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libmilieu${PROJECT_VERSION_MAJOR} COMPONENT library)
endif()

set(what "Milieu groups images, or any feature vectors, by their context: what appears\nbeside them, what they must be separated from, which examples of good\nclusterings exist.")
milieu_add_package(library ${library} libs "clustering by context - shared library"
  "${what}\nThis package has the shared library and the runtime for networks.")
# ldconfig runs by a trigger; CPack would write scripts that call it.
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${CMAKE_CURRENT_BINARY_DIR}/shlibs;${packages}/triggers")
milieu_add_package(dev libmilieu-dev libdevel "clustering by context - development files"
  "${what}\nThis package has the headers, static libraries, CMake package and pkg-config\nfiles.")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${library} ${exactly}, libc6-dev")
# For the component static, whose users link everything themselves.
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS
  "libtbb-dev, libfmt-dev, zlib1g-dev, libdnnl-dev, libopencv-features2d-dev, libvlfeat-dev, libjpeg62-turbo-dev, libpng-dev, libtiff-dev, libwebp-dev")
if(TARGET milieu_cli)
  milieu_add_package(program milieu science "clustering of images and feature vectors by context"
    "${what}\nThis package has the program with its explorer, a page in the browser, manual\npages and completion for bash, zsh and fish.")
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "${library} ${exactly}")
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "dataset-fashion-mnist, chromium | firefox-esr")
endif()
if(TARGET milieu_python)
  milieu_add_package(python python3-milieu python "clustering by context - Python package"
    "${what}\nThis package has the estimators for Python, in the manner of scikit-learn.")
  math(EXPR next "${MILIEU_PYTHON_MINOR} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
    "${library} ${exactly}, python3 (>= 3.${MILIEU_PYTHON_MINOR}), python3 (<< 3.${next}), python3-numpy, python3-scipy, python3-sklearn")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-pandas, python3-matplotlib, python3-distributed")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA "${packages}/postinst;${packages}/prerm")
endif()
if(TARGET milieu_mpi)
  milieu_add_package(mpi milieu-mpi science "clustering by context - on many machines by MPI"
    "${what}\nThis package has milieu-mpi, the same program on the ranks of an MPI job.")
  set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "${library} ${exactly}, milieu ${exactly}, openmpi-bin")
endif()
include(CPack)
