// SPDX-License-Identifier: Apache-2.0
// Which images a folder holds. Listing only: files are neither opened nor decoded here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/data/labels.h"

namespace MILIEU_API milieu {

// Rules: each sub-folder of the root is a class, and all images below it, however deep, belong to
// it. Images in the root itself have no class (label -1); without sub-folders there are no classes.
// Paths are sorted by their bytes, folder by folder, so that every machine lists the same order.
// Hidden files and folders (names that start with ".") are ignored. Symbolic links are
// followed; a folder that was listed already (a loop, or a second link to it) is skipped.
struct ImageFolder {
  std::string root;
  std::vector<std::string> paths;  // relative to root, "/" between names
  Labels labels;                   // of the paths; empty without sub-folders

  struct Skipped {
    std::string path;  // relative to root
    std::string reason;
  };
  std::vector<Skipped> skipped;  // what was left out and why, in the order of the listing
};

// Throws IoError when the root or a folder below it cannot be read, DataError when there is no
// image.
ImageFolder list_image_folder(const std::string& root);

// The images that a text file lists, one per line, in its order: paths as they are, or relative to
// the folder of the file, which becomes the root. The first folder on a relative path is the class.
// Empty lines are left out. Throws IoError, and DataError when no image is named.
ImageFolder list_images_in(const std::string& list_path);

// Labels from the names of class folders, one per image; "" means no class (-1). Unlike labels in
// files, names stay as they are: "001" is not "1". They are sorted by number when all of them are
// whole numbers, else by their bytes. Empty when no image has a class.
Labels labels_from_classes(const std::vector<std::string>& classes);

// By extension, in any case: jpg jpeg jpe png bmp dib tif tiff webp pgm ppm pbm pnm jp2.
bool has_image_extension(std::string_view path);

}  // namespace milieu
