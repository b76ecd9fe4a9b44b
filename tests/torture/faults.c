// SPDX-License-Identifier: Apache-2.0
// Preloaded into the program by tests/torture: counts its file system calls and, at the one that
// MILIEU_FAULT names, kills the process, fails the call or writes only a part.
//
//   MILIEU_FAULT=kill:N         SIGKILL just before call N (counted from 1)
//   MILIEU_FAULT=fail:N:ERRNO   call N fails with this error number, once
//   MILIEU_FAULT=full:N:ERRNO   call N and every later one that changes a file fails
//   MILIEU_FAULT=short:N        call N writes about half of what it was given, if it writes
//   MILIEU_FAULT_COUNT=FILE     the number of calls, written there when the process ends
//
// Calls on the standard streams, on sockets and on pipes do not count, nor those that only read.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum Kind { kNone, kKill, kFail, kFull, kShort };

static enum Kind kind = kNone;
static long at = 0;
static int error_number = EIO;
static atomic_long calls = 0;

__attribute__((constructor)) static void read_plan(void) {
  const char* plan = getenv("MILIEU_FAULT");
  char name[8] = "";
  if (!plan || sscanf(plan, "%7[a-z]:%ld:%d", name, &at, &error_number) < 2) return;
  kind = !strcmp(name, "kill")   ? kKill
         : !strcmp(name, "fail") ? kFail
         : !strcmp(name, "full") ? kFull
                                 : kShort;
}

__attribute__((destructor)) static void write_count(void) {
  const char* path = getenv("MILIEU_FAULT_COUNT");
  FILE* (*real)(const char*, const char*) = dlsym(RTLD_NEXT, "fopen");
  FILE* file = path ? real(path, "w") : NULL;
  if (!file) return;
  fprintf(file, "%ld\n", atomic_load(&calls));
  fclose(file);
}

// Whether this call fails; errno is then set.
static int strikes(void) {
  const long now = atomic_fetch_add(&calls, 1) + 1;
  if (kind == kKill && now == at) kill(getpid(), SIGKILL);
  if ((kind == kFail && now == at) || (kind == kFull && now >= at)) {
    errno = error_number;
    return 1;
  }
  return 0;
}

static int is_file(int fd) {
  struct stat info;
  return fd > 2 && fstat(fd, &info) == 0 && (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode));
}

static size_t part_of(size_t count) {
  return kind == kShort && atomic_load(&calls) == at && count > 1 ? count / 2 : count;
}

#define REAL(name) \
  static __typeof__(&name) real = NULL; \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define STRIKE(failed) \
  if (strikes()) return failed

#define WRITER(name, ...) \
  REAL(name); \
  if (is_file(fd)) STRIKE(-1); \
  return real(fd, data, is_file(fd) ? part_of(count) : count __VA_ARGS__)

ssize_t write(int fd, const void* data, size_t count) { WRITER(write); }
ssize_t pwrite(int fd, const void* data, size_t count, off_t place) { WRITER(pwrite, , place); }
ssize_t pwrite64(int fd, const void* data, size_t count, off64_t place) {
  WRITER(pwrite64, , place);
}
ssize_t writev(int fd, const struct iovec* parts, int count) {
  REAL(writev);
  if (is_file(fd)) STRIKE(-1);
  return real(fd, parts, count);
}

#define ON_DESCRIPTOR(name, arguments, ...) \
  int name arguments { \
    REAL(name); \
    if (is_file(fd)) STRIKE(-1); \
    return real(__VA_ARGS__); \
  }
#define ON_PATH(name, arguments, ...) \
  int name arguments { \
    REAL(name); \
    STRIKE(-1); \
    return real(__VA_ARGS__); \
  }

ON_DESCRIPTOR(fsync, (int fd), fd)
ON_DESCRIPTOR(fdatasync, (int fd), fd)
ON_DESCRIPTOR(ftruncate, (int fd, off_t size), fd, size)
ON_DESCRIPTOR(ftruncate64, (int fd, off64_t size), fd, size)
ON_PATH(rename, (const char* a, const char* b), a, b)
ON_PATH(renameat, (int d, const char* a, int e, const char* b), d, a, e, b)
ON_PATH(renameat2, (int d, const char* a, int e, const char* b, unsigned flags), d, a, e, b, flags)
ON_PATH(unlink, (const char* path), path)
ON_PATH(unlinkat, (int d, const char* path, int flags), d, path, flags)
ON_PATH(remove, (const char* path), path)
ON_PATH(rmdir, (const char* path), path)
ON_PATH(mkdir, (const char* path, mode_t mode), path, mode)
ON_PATH(mkdirat, (int d, const char* path, mode_t mode), d, path, mode)
ON_PATH(link, (const char* a, const char* b), a, b)
ON_PATH(symlink, (const char* a, const char* b), a, b)

#define WRITES(flags) ((flags) & (O_CREAT | O_WRONLY | O_RDWR | O_TRUNC))
#define MODE(flags) \
  mode_t mode = 0; \
  if ((flags) & (O_CREAT | O_TMPFILE)) { \
    va_list rest; \
    va_start(rest, flags); \
    mode = va_arg(rest, mode_t); \
    va_end(rest); \
  }

#define OPENER(name) \
  int name(const char* path, int flags, ...) { \
    REAL(name); \
    MODE(flags); \
    if (WRITES(flags) && strncmp(path, "/dev/", 5)) STRIKE(-1); \
    return real(path, flags, mode); \
  }
#define OPENER_AT(name) \
  int name(int folder, const char* path, int flags, ...) { \
    REAL(name); \
    MODE(flags); \
    if (WRITES(flags)) STRIKE(-1); \
    return real(folder, path, flags, mode); \
  }
OPENER(open)
OPENER(open64)
OPENER_AT(openat)
OPENER_AT(openat64)

#define STREAM(name) \
  FILE* name(const char* path, const char* mode) { \
    REAL(name); \
    if (strpbrk(mode, "wa+")) STRIKE(NULL); \
    return real(path, mode); \
  }
STREAM(fopen)
STREAM(fopen64)
