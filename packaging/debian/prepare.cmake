# SPDX-License-Identifier: Apache-2.0
# Run by CPack on the installed files before they are packed: manual pages are compressed, times are
# no later than that of the commit (SOURCE_DATE_EPOCH), so that two builds give the same bytes.
set(staging "${CPACK_TEMPORARY_INSTALL_DIRECTORY}")
file(GLOB_RECURSE pages "${staging}/*/man1/*.1")
foreach(page IN LISTS pages)
  execute_process(COMMAND gzip -9nf ${page} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  execute_process(COMMAND find ${staging} -exec touch --no-dereference --date=@$ENV{SOURCE_DATE_EPOCH} {} +
    COMMAND_ERROR_IS_FATAL ANY)
endif()
