// SPDX-License-Identifier: Apache-2.0
// The files by which the shards of one feature folder know that they belong together, all in
// .milieu/shards/:
//
//   job.json         what every shard was asked for; listing.csv: the images
//   keys.json        fingerprints of the rows, codebooks and networks included
//   2-of-8.done      shard 2 is complete: the images it skipped
//   2-of-8.files     what it found out about its images, 2-of-8.NAME.part and .journal their rows
//   lock             held while the job is agreed on and words are learned; 2-of-8.lock: by a shard
//
// The first shard writes job.json and keys.json, the others compare.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "milieu/base/job/shard.h"
#include "milieu/data/image_folder.h"
#include "milieu/feature/decode/decode.h"

namespace milieu::internal {

struct ShardJob {
  int count = 0;  // shards
  std::string source, absolute_source;
  ImageFolder images;                 // root, paths and classes
  std::vector<std::string> features;  // what parse_feature reads
  bool patches = false;
  DecodeOptions decode;
};

// Feature to the fingerprints of its rows and patches.
using RowKeys = std::map<std::string, std::pair<std::string, std::string>>;

std::string shard_file(const std::string& out, const std::string& name);
std::string shard_file(const std::string& out, const Shard& shard, const std::string& ending);

// The folder has shards that are not merged.
bool has_shards(const std::string& out);
// Writes the job, or compares it with the one that is there; throws InvalidArgument that names the
// first difference. Called under the lock.
void agree_on_job(const std::string& out, const ShardJob& job);
// The same for the fingerprints.
void agree_on_keys(const std::string& out, const RowKeys& keys);
// Throws InvalidArgument when there is none.
ShardJob read_shard_job(const std::string& out);

// Marks a shard as complete. `skipped` are images that its index does not know: they failed for
// reasons that another run may not have.
void write_shard_done(const std::string& out, const Shard& shard,
                      const std::vector<ImageFolder::Skipped>& skipped);
std::vector<ImageFolder::Skipped> read_shard_done(const std::string& out, const Shard& shard);
// Throws InvalidArgument that names the shards that are not complete.
void check_shards_done(const std::string& out, int count);

void remove_shards(const std::string& out);

}  // namespace milieu::internal
