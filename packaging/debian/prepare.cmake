# SPDX-License-Identifier: Apache-2.0
# Run by CPack on the installed files before they are packed: manual pages are compressed, times are
# no later than that of the commit (SOURCE_DATE_EPOCH), so that two builds give the same bytes.
set(staging "${CPACK_TEMPORARY_DIRECTORY}")
execute_process(COMMAND find ${staging} -path */man1/*.1 -type f -exec gzip -9nf {} +
  COMMAND_ERROR_IS_FATAL ANY)
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  execute_process(COMMAND find ${staging} -exec touch --no-dereference --date=@$ENV{SOURCE_DATE_EPOCH} {} +
    COMMAND_ERROR_IS_FATAL ANY)
endif()
