// SPDX-License-Identifier: Apache-2.0
// A zip archive is read from its end: the end record says where the directory is, the directory
// where each member's own header is, and the data follow that. Sizes of 2^32 - 1 stand for 64-bit
// ones in an extra field (zip64).
#include "milieu/data/format/npz.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "milieu/base/error.h"
#include "milieu/data/format/gzip.h"
#include "milieu/data/format/npy.h"
#include "milieu/data/printable.h"

namespace milieu {
namespace {

constexpr uint32_t kMemberMagic = 0x04034b50;
constexpr uint32_t kDirectoryMagic = 0x02014b50;
constexpr uint32_t kEndMagic = 0x06054b50;
constexpr size_t kEndBytes = 22, kDirectoryBytes = 46, kMemberBytes = 30;
constexpr size_t kMostComment = 65535;
constexpr uint64_t kSee64 = 0xffffffff;

struct ZipEntry {
  std::string name;
  uint64_t method = 0, packed = 0, size = 0, place = 0;
  uint32_t checksum = 0;
};

class ZipReader {
 public:
  ZipReader(std::span<const std::byte> bytes, const std::string& source)
      : bytes_(bytes), source_(source) {}

  std::vector<NpzMember> read() {
    const size_t end = find_end();
    size_t at = number(end + 16, 4);
    const size_t count = number(end + 10, 2);
    uint64_t total = 0;
    std::vector<NpzMember> members;
    for (size_t i = 0; i < count; ++i) {
      const ZipEntry entry = read_entry(at);
      // Members may share their bytes: together they must not claim more than deflate can give.
      if (entry.size > kMaxInflation * bytes_.size() - total)
        fail(fmt::format("its members claim more than {} bytes", total));
      total += entry.size;
      members.push_back(read_member(entry));
    }
    return members;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw DataError(fmt::format("{}: {}", source_, what));
  }

  // Little-endian.
  uint64_t number(uint64_t at, size_t count) const {
    if (at > bytes_.size() || bytes_.size() - at < count) fail("the zip archive is truncated");
    uint64_t value = 0;
    for (size_t i = count; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes_[at + i]);
    return value;
  }

  std::span<const std::byte> part(uint64_t at, uint64_t count) const {
    if (at > bytes_.size() || bytes_.size() - at < count) fail("the zip archive is truncated");
    return bytes_.subspan(at, count);
  }

  size_t find_end() const {
    for (size_t back = kEndBytes; back <= std::min(bytes_.size(), kEndBytes + kMostComment); ++back)
      if (number(bytes_.size() - back, 4) == kEndMagic) return bytes_.size() - back;
    fail("the zip archive is truncated: it has no end record");
  }

  // One entry of the directory; `at` moves on to the next.
  ZipEntry read_entry(size_t& at) const {
    if (number(at, 4) != kDirectoryMagic) fail("the zip archive's directory is damaged");
    if (number(at + 8, 2) & 1) fail("the zip archive is encrypted: save it again without");
    ZipEntry entry;
    entry.method = number(at + 10, 2);
    entry.checksum = static_cast<uint32_t>(number(at + 16, 4));
    entry.packed = number(at + 20, 4);
    entry.size = number(at + 24, 4);
    entry.place = number(at + 42, 4);
    const size_t name = number(at + 28, 2), extra = number(at + 30, 2),
                 comment = number(at + 32, 2);
    const auto text = part(at + kDirectoryBytes, name);
    entry.name.assign(reinterpret_cast<const char*>(text.data()), text.size());
    read_extra(at + kDirectoryBytes + name, extra, entry);
    at += kDirectoryBytes + name + extra + comment;
    return entry;
  }

  void read_extra(size_t at, size_t length, ZipEntry& entry) const {
    for (const size_t end = at + length; at + 4 <= end;) {
      const uint64_t kind = number(at, 2), count = number(at + 2, 2);
      size_t field = at + 4;
      at = field + count;
      if (kind != 1) continue;
      for (uint64_t* value : {&entry.size, &entry.packed, &entry.place})
        if (*value == kSee64 && field + 8 <= at) *value = number(field, 8), field += 8;
    }
  }

  NpzMember read_member(const ZipEntry& entry) const {
    if (number(entry.place, 4) != kMemberMagic) fail("the zip archive's directory is damaged");
    const uint64_t begin =
        entry.place + kMemberBytes + number(entry.place + 26, 2) + number(entry.place + 28, 2);
    const auto packed = part(begin, entry.packed);
    const std::string name = printable(entry.name);
    if (entry.size / kMaxInflation > entry.packed + 1)
      fail(fmt::format("member {} claims {} bytes of {}", name, entry.size, entry.packed));
    auto owned = std::make_shared<std::vector<std::byte>>(entry.size);
    if (entry.method == 0 && entry.packed == entry.size)
      std::copy(packed.begin(), packed.end(), owned->begin());
    else if (entry.method != Z_DEFLATED || !inflate_into(packed, *owned))
      fail(fmt::format("member {} is damaged, or compressed in another way than by numpy", name));
    const auto* data = reinterpret_cast<const Bytef*>(owned->data());
    if (::crc32_z(0, data, owned->size()) != entry.checksum)
      fail(fmt::format("member {} is damaged: its checksum differs", name));
    NpzMember member;
    member.name =
        entry.name.ends_with(".npy") ? entry.name.substr(0, entry.name.size() - 4) : entry.name;
    member.array = parse_npy(*owned, fmt::format("{}, array {}", source_, printable(member.name)));
    member.array.owner = std::move(owned);
    return member;
  }

  // False unless `packed` is exactly what fills `out`.
  static bool inflate_into(std::span<const std::byte> packed, std::span<std::byte> out) {
    constexpr size_t kMostAtOnce = size_t{1} << 30;
    z_stream stream = {};
    if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;
    size_t in_at = 0, out_at = 0;
    int state = Z_OK;
    while (state == Z_OK) {
      const size_t in = std::min(packed.size() - in_at, kMostAtOnce);
      const size_t room = std::min(out.size() - out_at, kMostAtOnce);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data() + in_at));
      stream.avail_in = static_cast<uInt>(in);
      stream.next_out = reinterpret_cast<Bytef*>(out.data() + out_at);
      stream.avail_out = static_cast<uInt>(room);
      state = ::inflate(&stream, Z_NO_FLUSH);
      in_at += in - stream.avail_in;
      out_at += room - stream.avail_out;
      if (state == Z_OK && in == stream.avail_in && room == stream.avail_out) break;
    }
    ::inflateEnd(&stream);
    return state == Z_STREAM_END && out_at == out.size();
  }

  std::span<const std::byte> bytes_;
  const std::string& source_;
};

}  // namespace

bool looks_like_npz(std::span<const std::byte> file) {
  return file.size() >= 4 && std::memcmp(file.data(), "PK\x03\x04", 4) == 0;
}

std::vector<NpzMember> parse_npz(std::span<const std::byte> file, const std::string& source) {
  return ZipReader(file, source).read();
}

}  // namespace milieu
