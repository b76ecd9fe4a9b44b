# SPDX-License-Identifier: Apache-2.0
# ONNX Runtime runs networks: the system's where there is one, else the one that scripts/setup put
# into build/onnxruntime. Only its C headers are needed here; the library is loaded when a network is
# first asked for (feature/network/runtime.cc), so commands without one start as fast as before.
# Without either, Milieu is built all the same and says what is missing when a network is asked for.
option(MILIEU_USE_ONNXRUNTIME "run networks by ONNX Runtime, where it is found" ON)
set(bundled ${PROJECT_SOURCE_DIR}/build/onnxruntime)
find_path(MILIEU_ONNXRUNTIME_INCLUDE onnxruntime_c_api.h
  PATHS ${bundled}/include PATH_SUFFIXES onnxruntime onnxruntime/core/session)
find_library(MILIEU_ONNXRUNTIME_LIBRARY NAMES onnxruntime libonnxruntime.so.1 PATHS ${bundled}/lib)
mark_as_advanced(MILIEU_ONNXRUNTIME_INCLUDE MILIEU_ONNXRUNTIME_LIBRARY)

add_library(milieu_onnxruntime INTERFACE)
set(MILIEU_HAS_ONNXRUNTIME OFF)
if(MILIEU_USE_ONNXRUNTIME AND MILIEU_ONNXRUNTIME_INCLUDE AND MILIEU_ONNXRUNTIME_LIBRARY)
  set(MILIEU_HAS_ONNXRUNTIME ON)
else()
  message(STATUS "ONNX Runtime is not used or was not found: features onnx and onnx-patches will not be available "
                 "(scripts/setup fetches it)")
  return()
endif()
target_include_directories(milieu_onnxruntime SYSTEM INTERFACE ${MILIEU_ONNXRUNTIME_INCLUDE})
cmake_path(IS_PREFIX bundled "${MILIEU_ONNXRUNTIME_LIBRARY}" is_bundled)
if(is_bundled)
  # Found by its name along the program's run path, which works wherever both are installed.
  set(library libonnxruntime.so.1)
  set(runtime_dir ${CMAKE_INSTALL_LIBDIR}/milieu)
  # Relative, so that no byte of a program depends on where it was built.
  file(RELATIVE_PATH from_build ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${bundled}/lib)
  set(CMAKE_BUILD_RPATH "$ORIGIN/${from_build}")
  # Programs of others that link Milieu find it too.
  set(MILIEU_PC_RUNTIME_FLAG "-Wl,-rpath,\${prefix}/${runtime_dir}")
  install(FILES ${MILIEU_ONNXRUNTIME_LIBRARY} DESTINATION ${runtime_dir} COMPONENT library)
  install(FILES ${bundled}/LICENSE ${bundled}/ThirdPartyNotices.txt
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libmilieu${PROJECT_VERSION_MAJOR}/onnxruntime COMPONENT library)
else()
  file(REAL_PATH ${MILIEU_ONNXRUNTIME_LIBRARY} library)
endif()
set(MILIEU_RUNTIME_DIR ${runtime_dir})
target_compile_definitions(milieu_onnxruntime INTERFACE MILIEU_ONNXRUNTIME="${library}")
