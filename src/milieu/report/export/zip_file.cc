// SPDX-License-Identifier: Apache-2.0
// PKWARE's APPNOTE.TXT, sections 4.3.7 (local header), 4.3.12 (directory), 4.3.16 (its end).
#include "milieu/report/export/zip_file.h"

#include <zlib.h>

#include "milieu/base/error.h"

namespace milieu {

namespace {

constexpr uint32_t kMaxFiles = 0xFFFE;
constexpr uint64_t kMaxBytes = 0xFFFFFFFE;
constexpr uint16_t kVersion = 20, kUtf8 = 0x0800, kStored = 0;
constexpr uint16_t kTime = 0, kDate = 0x0021;  // 1 January 1980, the first day of the format

// Little-endian.
template <class Int>
void put(std::string& bytes, Int value) {
  for (size_t i = 0; i < sizeof(Int); ++i)
    bytes += static_cast<char>((static_cast<uint64_t>(value) >> (8 * i)) & 0xFF);
}

// What the local header and the directory share: from the version to the length of the name.
std::string entry_fields(uint32_t checksum, uint32_t size, size_t name_length) {
  std::string bytes;
  for (const uint16_t value : {kVersion, kUtf8, kStored, kTime, kDate}) put(bytes, value);
  for (const uint32_t value : {checksum, size, size}) put(bytes, value);
  put(bytes, static_cast<uint16_t>(name_length));
  put(bytes, uint16_t{0});  // no extra field
  return bytes;
}

}  // namespace

void ZipFile::write(const std::string& bytes) {
  file_.write(bytes);
  offset_ += bytes.size();
}

void ZipFile::add(const std::string& name, std::span<const uint8_t> content) {
  require(count_ < kMaxFiles &&
              offset_ + directory_.size() + content.size() + 4 * name.size() + 1000 < kMaxBytes,
          "a .zip file holds at most 65,534 images and 4 GB: export folders instead");
  const auto checksum =
      static_cast<uint32_t>(crc32(0, content.data(), static_cast<uInt>(content.size())));
  const std::string fields =
      entry_fields(checksum, static_cast<uint32_t>(content.size()), name.size());
  std::string entry = "PK\x01\x02";
  put(entry, kVersion);
  entry += fields;
  for (const uint16_t value : {0, 0, 0}) put(entry, value);  // comment, disk, internal attributes
  put(entry, uint32_t{0100644} << 16);                       // a plain file that all may read
  put(entry, static_cast<uint32_t>(offset_));
  directory_ += entry + name;
  write("PK\x03\x04" + fields + name);
  file_.write(content.data(), content.size());
  offset_ += content.size();
  ++count_;
}

void ZipFile::commit() {
  std::string end = "PK\x05\x06";
  for (const uint16_t value : {0, 0}) put(end, value);  // one disk
  for (int i = 0; i < 2; ++i) put(end, static_cast<uint16_t>(count_));
  put(end, static_cast<uint32_t>(directory_.size()));
  put(end, static_cast<uint32_t>(offset_));
  put(end, uint16_t{0});  // no comment
  file_.write(directory_);
  file_.write(end);
  file_.commit();
}

}  // namespace milieu
