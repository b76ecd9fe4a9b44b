# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=... -DOUT=FILE -P write_commit.cmake: writes a header with the commit of the sources,
# only if it changes. Outside a checkout the commit is what MILIEU_COMMIT says in the environment.
cmake_minimum_required(VERSION 3.24)
set(commit "$ENV{MILIEU_COMMIT}")
if(commit STREQUAL "" AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} describe --always --exclude=* --abbrev=12 --dirty=-modified
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(commit STREQUAL "")
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define MILIEU_COMMIT \"@commit@\"\n" @ONLY)
