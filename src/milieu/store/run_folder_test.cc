// SPDX-License-Identifier: Apache-2.0
#include "milieu/store/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <optional>

#include "milieu/base/error.h"
#include "milieu/data/labels.h"
#include "milieu/store/labels_csv.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Ints = std::vector<int>;

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

template <class Exception, class Call>
std::string refusal(Call&& call) {
  try {
    call();
  } catch (const Exception& error) {
    return error.what();
  }
  return "not refused";
}

ModelFile tiny_model() {
  ModelFile file;
  file.kind = "test";
  file.arrays = {{"a", {"U8", {2}, {std::byte{1}, std::byte{2}}}}};
  return file;
}

void write_run(const std::string& path, bool force, const std::string& summary) {
  RunFolder run(path, force);
  run.write_text("summary.json", summary);
  run.commit();
}

// Root may write everywhere: tests of forbidden places run as another user meanwhile.
class AsNobody {
 public:
  AsNobody() : is_root_(::geteuid() == 0) {
    if (is_root_ && ::seteuid(65534) != 0) ADD_FAILURE() << "cannot become another user";
  }
  ~AsNobody() {
    if (is_root_ && ::seteuid(0) != 0) std::abort();
  }

 private:
  bool is_root_;
};

void give_to_nobody(const std::string& path) {
  if (::geteuid() == 0 && ::chown(path.c_str(), 65534, 65534) != 0)
    ADD_FAILURE() << "cannot give " << path << " away";
}

TEST(RunFolder, AppearsWholeAtCommit) {
  const TempDir folder;
  const std::string path = folder.file("run");
  RunFolder run(path, false);
  EXPECT_EQ(run.path(), path);
  run.write_text("options.json", "{}");
  run.write_text("summary.json", "{}\n");
  run.write_labels(Ints{0, 1}, {}, {});
  run.write_model(tiny_model());
  EXPECT_FALSE(fs::exists(path));
  run.commit();
  EXPECT_THAT(names_in(path),
              ElementsAre("labels.csv", "model.safetensors", "options.json", "summary.json"));
  EXPECT_THAT(names_in(folder.path()), ElementsAre("run"));
  EXPECT_EQ(read_bytes(path + "/options.json"), "{}\n");
  EXPECT_EQ(read_bytes(path + "/summary.json"), "{}\n");
  EXPECT_EQ(read_model_file(path + "/model.safetensors").kind, "test");
}

TEST(RunFolder, KeepsTheBytesOfAFile) {
  const TempDir folder;
  const std::string bytes("\x89PNG\0\n\xff", 7);
  RunFolder run(folder.file("run"), false);
  run.write_file("map.png", bytes);
  run.commit();
  EXPECT_EQ(read_bytes(folder.file("run") + "/map.png"), bytes);
}

TEST(RunFolder, LeavesNothingWithoutCommit) {
  const TempDir folder;
  {
    RunFolder run(folder.file("run"), false);
    run.write_text("summary.json", "{}");
  }
  EXPECT_THAT(names_in(folder.path()), IsEmpty());
}

TEST(RunFolder, SameContentGivesTheSameBytes) {
  const TempDir folder;
  for (const char* name : {"a", "b"}) {
    RunFolder run(folder.file(name), false);
    run.write_labels(Ints{1, -1}, {"x", "y"}, {});
    run.write_model(tiny_model());
    run.commit();
  }
  for (const char* name : {"labels.csv", "model.safetensors"})
    EXPECT_EQ(read_bytes(folder.file("a/") + name), read_bytes(folder.file("b/") + name));
}

TEST(RunFolder, MakesMissingParents) {
  const TempDir folder;
  write_run(folder.file("x/y/run"), false, "{}");
  EXPECT_TRUE(fs::exists(folder.file("x/y/run/summary.json")));
}

TEST(RunFolder, SlashAtTheEndDoesNotMatter) {
  const TempDir folder;
  write_run(folder.file("run//"), false, "{}");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("run"));
}

TEST(RunFolder, RelativePathWithoutFolderWorks) {
  const TempDir folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  write_run("run", false, "{}");
  fs::current_path(before);
  EXPECT_THAT(names_in(folder.path()), ElementsAre("run"));
}

TEST(RunFolder, EmptyFolderIsFilled) {
  const TempDir folder;
  fs::create_directory(folder.file("run"));
  write_run(folder.file("run"), false, "{}");
  EXPECT_THAT(names_in(folder.file("run")), ElementsAre("summary.json"));
}

TEST(RunFolder, ExistingRunIsKeptWithoutForce) {
  const TempDir folder;
  const std::string path = folder.file("run");
  write_run(path, false, "old");
  EXPECT_EQ(refusal<InvalidArgument>([&] { RunFolder(path, false); }),
            "run folder " + path + " exists: choose another, or give --force to replace it");
  EXPECT_EQ(read_bytes(path + "/summary.json"), "old\n");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("run"));
}

TEST(RunFolder, ForceReplacesAnEarlierRunAsAWhole) {
  const TempDir folder;
  const std::string path = folder.file("run");
  {
    RunFolder run(path, false);
    run.write_text("summary.json", "old");
    run.write_text("report.html", "old");
    run.commit();
  }
  {
    RunFolder run(path, true);
    run.write_text("summary.json", "new");
    EXPECT_EQ(read_bytes(path + "/summary.json"), "old\n");  // until the new one is complete
    run.commit();
  }
  EXPECT_EQ(read_bytes(path + "/summary.json"), "new\n");
  EXPECT_THAT(names_in(path), ElementsAre("summary.json"));
  EXPECT_THAT(names_in(folder.path()), ElementsAre("run"));
}

TEST(RunFolder, ForceDoesNotReplaceOtherFolders) {
  const TempDir folder;
  folder.write("photos/a.jpg", "x");
  const std::string path = folder.file("photos");
  for (bool force : {false, true})
    EXPECT_EQ(refusal<InvalidArgument>([&] { RunFolder(path, force); }),
              "folder " + path +
                  " is not empty and not a run folder (it has no summary.json): choose another");
  EXPECT_THAT(names_in(path), ElementsAre("a.jpg"));
}

TEST(RunFolder, FileIsRefused) {
  const TempDir folder;
  const std::string path = folder.write("run", "x");
  EXPECT_EQ(refusal<InvalidArgument>([&] { RunFolder(path, true); }),
            "run folder " + path + " is a file, must be a folder");
}

TEST(RunFolder, EmptyPathIsRefused) {
  EXPECT_EQ(refusal<InvalidArgument>([] { RunFolder("", false); }),
            "the run folder's path is empty, must name a folder");
}

TEST(RunFolder, FileAmongTheParentsIsAnIoError) {
  const TempDir folder;
  folder.write("file", "x");
  EXPECT_THAT(refusal<IoError>([&] { RunFolder(folder.file("file/run"), false); }),
              HasSubstr("file/run cannot be created: "));
}

TEST(RunFolder, LinkToARunStaysALink) {
  const TempDir folder;
  write_run(folder.file("real"), false, "old");
  fs::create_directory_symlink(folder.file("real"), folder.file("link"));
  write_run(folder.file("link"), true, "new");
  EXPECT_TRUE(fs::is_symlink(folder.file("link")));
  EXPECT_EQ(read_bytes(folder.file("real/summary.json")), "new\n");
}

TEST(RunFolder, LinkToNothingIsRefused) {
  const TempDir folder;
  fs::create_symlink(folder.file("none"), folder.file("link"));
  EXPECT_EQ(refusal<InvalidArgument>([&] { RunFolder(folder.file("link"), false); }),
            "run folder " + folder.file("link") +
                " is a symbolic link to nothing: remove it, or choose another");
}

TEST(RunFolder, PlaceThatMayNotBeWrittenIsAnIoError) {
  const TempDir folder;
  fs::create_directory(folder.file("locked"));
  give_to_nobody(folder.file("locked"));
  fs::permissions(folder.path(), fs::perms::all);
  fs::permissions(folder.file("locked"), fs::perms::owner_read | fs::perms::owner_exec);
  const AsNobody nobody;
  EXPECT_EQ(refusal<IoError>([&] { RunFolder(folder.file("locked/run"), false); }),
            folder.file("locked/run") + " cannot be created: Permission denied");
}

TEST(RunFolder, FolderThatMayNotBeReadIsAnIoError) {
  const TempDir folder;
  fs::create_directory(folder.file("run"));
  give_to_nobody(folder.file("run"));
  fs::permissions(folder.path(), fs::perms::all);
  fs::permissions(folder.file("run"), fs::perms::none);
  const AsNobody nobody;
  EXPECT_EQ(refusal<IoError>([&] { RunFolder(folder.file("run"), true); }),
            folder.file("run") + " cannot be read: Permission denied");
}

// In a container a killed run and the next one have the same number: its left-overs must not be in
// the way, and what it had moved aside comes back.
TEST(RunFolder, LeftOversOfKilledRunsDoNoHarm_issue20) {
  const TempDir folder;
  for (int i = 0; i < 3; ++i)
    folder.write("run.tmp-" + std::to_string(::getpid()) + "-" + std::to_string(i), "stale");
  write_run(folder.file("run"), false, "new");
  EXPECT_EQ(read_bytes(folder.file("run/summary.json")), "new\n");
  fs::rename(folder.file("run"), folder.file("run.old-1-0"));  // killed between two renames
  EXPECT_THROW(RunFolder(folder.file("run"), false), InvalidArgument) << "it is there again";
  EXPECT_EQ(read_bytes(folder.file("run/summary.json")), "new\n");
  fs::rename(folder.file("run"), folder.file("run.old-1-0"));
  folder.write("run.old-1-0/model.safetensors", "x");
  EXPECT_EQ(resolve_model_path(folder.file("run")), folder.file("run/model.safetensors"));
}

TEST(RunFolder, FolderThatAppearsMeanwhileIsKept) {
  const TempDir folder;
  RunFolder run(folder.file("run"), false);
  run.write_text("summary.json", "mine");
  write_run(folder.file("run"), false, "theirs");
  EXPECT_THROW(run.commit(), InvalidArgument);
  EXPECT_EQ(read_bytes(folder.file("run/summary.json")), "theirs\n");
}

// Whatever keeps the new run from its place, the older one comes back.
TEST(RunFolder, OlderRunComesBackWhenTheNewOneCannotBePutInPlace) {
  const TempDir folder;
  write_run(folder.file("run"), false, "old");
  {
    RunFolder run(folder.file("run"), true);
    run.write_text("summary.json", "new");
    for (const std::string& name : names_in(folder.path()))
      if (name != "run") fs::remove_all(folder.file(name));  // as an eager cleaner would
    EXPECT_EQ(refusal<IoError>([&] { run.commit(); }),
              folder.file("run") + " cannot be moved into place: No such file or directory");
  }
  EXPECT_EQ(read_bytes(folder.file("run/summary.json")), "old\n");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("run"));
}

TEST(RunFolder, OlderRunStaysWhenItMayNotBeMoved) {
  const TempDir folder;
  const std::string parent = folder.file("parent");
  fs::create_directory(parent);
  give_to_nobody(parent);
  fs::permissions(folder.path(), fs::perms::all);
  const AsNobody nobody;
  write_run(parent + "/run", false, "old");
  {
    RunFolder run(parent + "/run", true);
    run.write_text("summary.json", "new");
    fs::permissions(parent, fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_EQ(refusal<IoError>([&] { run.commit(); }),
              parent + "/run cannot be replaced: Permission denied");
    EXPECT_EQ(read_bytes(parent + "/run/summary.json"), "old\n");
    fs::permissions(parent, fs::perms::owner_all);
  }
  EXPECT_THAT(names_in(parent), ElementsAre("run"));
}

// A full disk, played by a limit on the size of files.
TEST(RunFolder, FullDiskKeepsTheOlderRun) {
  const TempDir folder;
  write_run(folder.file("run"), false, "old");
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto signal_before = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {1000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string message;
  {
    RunFolder run(folder.file("run"), true);
    message = refusal<IoError>([&] { run.write_labels(Ints(10'000), {}, {}); });
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, signal_before);
  EXPECT_THAT(message, HasSubstr("labels.csv cannot be "));
  EXPECT_EQ(read_bytes(folder.file("run/summary.json")), "old\n");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("run"));
}

std::string labels_csv(const Ints& labels, const std::vector<std::string>& names,
                       const std::vector<int64_t>& rows) {
  const TempDir folder;
  RunFolder run(folder.file("run"), false);
  run.write_labels(labels, names, rows);
  run.commit();
  const std::string text = read_bytes(folder.file("run/labels.csv"));
  EXPECT_EQ(labels_csv_text(labels, names, rows), text);
  return text;
}

TEST(LabelsCsv, SamplesAreRowsOriginalRowsOrNames) {
  EXPECT_EQ(labels_csv({2, -1}, {}, {}), "sample,label\n0,2\n1,-1\n");
  EXPECT_EQ(labels_csv({2, -1}, {}, {7, 9}), "sample,label\n7,2\n9,-1\n");
  EXPECT_EQ(labels_csv({2, -1}, {"a/b.jpg", "c.jpg"}, {7, 9}),
            "sample,label\na/b.jpg,2\nc.jpg,-1\n");
  EXPECT_EQ(labels_csv({}, {}, {}), "sample,label\n");
}

TEST(LabelsCsv, NamesAreQuotedWhereNeeded) {
  EXPECT_EQ(labels_csv({0, 1, 2, 3, 4}, {"a,b", "say \"x\"", "", " end ", "# no"}, {}),
            "sample,label\n\"a,b\",0\n\"say \"\"x\"\"\",1\n\"\",2\n\" end \",3\n\"# no\",4\n");
}

TEST(LabelsCsv, ControlCharactersDoNotBreakLines) {
  EXPECT_EQ(labels_csv({0}, {"a\nb\rc\x1b"}, {}), "sample,label\na\\x0ab\\x0dc\\x1b,0\n");
}

TEST(LabelsCsv, ClassesAreNumberedInOrder) {
  EXPECT_EQ(classes_csv_text({"cat", "a,b", ""}), "class,name\n0,cat\n1,\"a,b\"\n2,\"\"\n");
}

TEST(LabelsCsv, ReadsBackAsLabels) {
  const TempDir folder;
  write_labels_csv(folder.file("l.csv"), Ints{2, 0, -1, 2}, {"a,b", "say \"x\"", "c\nd", " e"}, {});
  const Labels labels = load_labels(folder.file("l.csv"));
  EXPECT_THAT(labels.names, ElementsAre("0", "2"));
  EXPECT_THAT(labels.indices, ElementsAre(1, 0, -1, 1));
}

TEST(LabelsCsv, OtherLengthsAreRefused) {
  const TempDir folder;
  EXPECT_EQ(refusal<InvalidArgument>([&] {
              write_labels_csv(folder.file("l.csv"), Ints{1, 2}, {"a"}, {});
            }),
            "names has 1 entry, labels has 2: they must match");
  EXPECT_EQ(refusal<InvalidArgument>([&] {
              write_labels_csv(folder.file("l.csv"), Ints{1, 2}, {}, std::vector<int64_t>{1, 2, 3});
            }),
            "rows has 3 entries, labels has 2: they must match");
  EXPECT_FALSE(fs::exists(folder.file("l.csv")));
}

TEST(ResolveModelPath, FileAndRunFolder) {
  const TempDir folder;
  const std::string file = folder.write("run/model.safetensors", "x");
  EXPECT_EQ(resolve_model_path(file), file);
  EXPECT_EQ(resolve_model_path(folder.file("run")), file);
}

TEST(ResolveModelPath, MissingAndFolderWithoutModel) {
  const TempDir folder;
  EXPECT_EQ(refusal<IoError>([&] { resolve_model_path(folder.file("none")); }),
            folder.file("none") + " does not exist: give a model file or a run folder");
  EXPECT_EQ(
      refusal<InvalidArgument>([&] { resolve_model_path(folder.path()); }),
      "folder " + folder.path() + " has no model.safetensors: give a model file or a run folder");
}

}  // namespace
}  // namespace milieu
