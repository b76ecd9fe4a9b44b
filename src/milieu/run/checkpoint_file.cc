// SPDX-License-Identifier: Apache-2.0
#include "milieu/run/checkpoint_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "milieu/base/error.h"
#include "milieu/base/hash.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/text_file.h"

namespace milieu {
namespace {

constexpr std::string_view kTitle = "milieu checkpoint 1\n";
constexpr size_t kHexDigits = 16;

std::string_view text_of(const Message& message) {
  return {reinterpret_cast<const char*>(message.data()), message.size()};
}

}  // namespace

CheckpointFile::CheckpointFile(std::string path, std::string fingerprint, Communicator& ranks,
                               Monitor& monitor)
    : path_(std::move(path)), fingerprint_(std::move(fingerprint)), ranks_(ranks), kept_(monitor) {}

// The title, the fingerprint of the job, the hash of the state, each on its line; the state.
std::optional<Message> CheckpointFile::read() const {
  if (!std::filesystem::exists(path_)) return std::nullopt;
  const std::string content = read_text_file(path_);
  const size_t begin = kTitle.size() + 2 * (kHexDigits + 1);
  if (content.size() < begin || !content.starts_with(kTitle) ||
      content[kTitle.size() + kHexDigits] != '\n' || content[begin - 1] != '\n')
    throw DataError(fmt::format("{} is not a checkpoint, or only a part of one: remove it", path_));
  if (content.compare(kTitle.size(), kHexDigits, fingerprint_) != 0)
    throw InvalidArgument(
        fmt::format("{} is the checkpoint of another job (other data, options or version): remove "
                    "it, or give another file",
                    path_));
  const std::string_view state = std::string_view(content).substr(begin);
  if (content.compare(kTitle.size() + kHexDigits + 1, kHexDigits, hex(hash_text(state))) != 0)
    throw DataError(fmt::format("{} is damaged: remove it to begin again", path_));
  Message message(state.size());
  for (size_t i = 0; i < state.size(); ++i) message[i] = static_cast<std::byte>(state[i]);
  return message;
}

// What rank 0 has read, or its error, on all ranks: all of them go on, or none.
std::optional<Message> CheckpointFile::load() {
  std::optional<Message> state;
  std::string problem;
  bool is_damaged = false;
  if (ranks_.rank() == 0) {
    try {
      state = read();
    } catch (const InvalidArgument& error) {
      problem = error.what();
    } catch (const Error& error) {
      problem = error.what();
      is_damaged = true;
    }
  }
  Message reply = pack_span<char>(problem);
  ranks_.broadcast(0, reply);
  const bool damaged = ranks_.largest(is_damaged ? 1 : 0) == 1;
  if (damaged) throw DataError(std::string(text_of(reply)));
  if (!reply.empty()) throw InvalidArgument(std::string(text_of(reply)));
  if (ranks_.largest(state ? 1 : 0) == 0) return std::nullopt;
  Message message = state ? std::move(*state) : Message();
  ranks_.broadcast(0, message);
  return message;
}

void CheckpointFile::save(const Message& state) {
  constexpr std::chrono::seconds kPause{1};
  if (ranks_.rank() > 0 || Clock::now() - last_ < kPause) return;
  kept_.save([&] {
    AtomicFile file(path_);
    file.write(fmt::format("{}{}\n{}\n", kTitle, fingerprint_, hex(hash_text(text_of(state)))));
    file.write(text_of(state));
    file.commit();
  });
  last_ = Clock::now();
}

void CheckpointFile::remove() {
  std::error_code error;
  if (ranks_.rank() == 0) std::filesystem::remove(path_, error);
}

}  // namespace milieu
