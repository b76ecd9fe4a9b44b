// SPDX-License-Identifier: Apache-2.0
// Writes the files of this folder: write_models DIR. Run it when a kind or a format version is
// added and commit only the new file: files that are there show what older releases wrote.
#include <cstdio>
#include <string>

#include "milieu/base/error.h"
#include "milieu/store/model_file.h"
#include "models.h"

namespace {

template <class Model>
void write(const std::string& folder, const char* name, const Model& model) {
  milieu::save_model(folder + "/" + name + ".safetensors", model, milieu::compat::kOptions);
}

void write_all(const std::string& folder) {
  using namespace milieu::compat;
  write(folder, "agglomerative_v1", agglomerative_v1());
  write(folder, "bags_v1", bags_v1());
  write(folder, "cac_v2", cac_v2());
  write(folder, "dcp_v1", dcp_v1());
  write(folder, "dlgmm_v3", dlgmm_v3());
  write(folder, "exemplar_v1", exemplar_v1());
  write(folder, "gmm_diagonal_v1", gmm_diagonal_v1());
  write(folder, "gmm_full_v1", gmm_full_v1());
  write(folder, "icc_v1", icc_v1());
  write(folder, "icc_classifier_v1", icc_classifier_v1());
  write(folder, "jsom_v1", jsom_v1());
  write(folder, "kmeans_v2", kmeans_v2());
  write(folder, "kmedoids_v1", kmedoids_v1());
  write(folder, "kmodes_v1", kmodes_v1());
  write(folder, "learned_distance_v2", learned_distance_v2());
  write(folder, "meanshift_v1", meanshift_v1());
  write(folder, "multinomials_v1", multinomials_v1());
  write(folder, "ncut_v1", ncut_v1());
  write(folder, "topics_v1", topics_v1());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: write_models DIR\n", stderr);
    return 2;
  }
  try {
    write_all(argv[1]);
  } catch (const milieu::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
