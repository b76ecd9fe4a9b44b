// SPDX-License-Identifier: Apache-2.0
// What a run of cac says beside its labels: the words and phrases of the keypoints of a picture,
// and the phrases of named groups of rows.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "serve/collection.h"
#include "serve/runs.h"

namespace milieu::serve {

struct RunColumns;

// A keypoint of a picture; its place is in pixels of the picture as cac read it.
struct PictureWord {
  float x = 0, y = 0;
  int32_t word = -1, phrase = -1;
};

// Rows that occur together.
struct NamedGroup {
  std::string name;
  int32_t phrase = -1;
  std::vector<int32_t> rows;  // of the collection
};

struct CacWords {
  std::map<int32_t, std::vector<PictureWord>> pictures;  // by row of the collection
  std::vector<NamedGroup> groups;
  std::vector<std::string> phrases;  // what each is made of, a line each

  bool empty() const { return pictures.empty() && groups.empty() && phrases.empty(); }
};

// Reads labels.csv and words.csv of a cac. Where keypoints or groups were labelled, a row gets the
// phrase that most of its keypoints or groups have (the lowest of equals; -1 for none), and its
// margin is by how large a share of them that phrase leads. Where rows were, `columns` gets their
// words only. Throws DataError when a picture is not in the set.
CacWords read_cac_words(const RunRecord& record, const Collection& collection,
                        const std::vector<int64_t>& set, RunColumns& columns);

// {width, height, places: [x, y, ...], words, phrases} of one picture; nothing when it has none.
Json picture_words_json(const CacWords& words, const Collection& collection, int64_t row);

}  // namespace milieu::serve
