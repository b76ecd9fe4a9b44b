# SPDX-License-Identifier: Apache-2.0
"""milieu demo: the folder it leaves, the page in it, the commands it proposes, and folders that are
not its own."""

import html
import html.parser
import json
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import numpy as np

from support import PROGRAM, RUN_FILES, CliTest, environment


class PageReader(html.parser.HTMLParser):
    """Python's own reader of HTML, as a second opinion: nesting, links, sources, image texts."""

    def __init__(self, text):
        super().__init__()
        self.open, self.faults, self.links, self.sources = [], [], [], []
        self.feed(text)
        self.close()
        self.faults += [f"<{tag}> stays open" for tag in self.open]

    def handle_starttag(self, tag, attrs):
        self.note(tag, dict(attrs))
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):  # <tag ... />: every element without children
        self.note(tag, dict(attrs))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> at {self.getpos()}")

    def note(self, tag, attrs):
        if tag == "script":
            self.faults.append("a script")
        if tag == "img" and "alt" not in attrs:
            self.faults.append("an image without text")
        self.links += [attrs["href"]] if "href" in attrs else []
        self.sources += [attrs["src"]] if "src" in attrs else []


class DemoTest(CliTest):
    # What each story is about, best with the context against the best plain method. The bounds are those of the
    # stories, not of this seed: half of a class is chance, and a story without a lead is none.
    LEAD = 0.1

    @classmethod
    def setUpClass(cls):
        """One demo for all tests that only look at it; drawn, so that it is the same on every machine."""
        cls.shared = tempfile.TemporaryDirectory(prefix="milieu-demo-")
        cls.addClassCleanup(cls.shared.cleanup)
        cls.place = pathlib.Path(cls.shared.name)
        done = subprocess.run([PROGRAM, "demo", "--drawn"], cwd=cls.place, env=environment(),
                              capture_output=True, text=True, check=True, timeout=300)
        cls.out = done.stdout
        cls.demo = cls.place / "milieu-demo"
        cls.summary = json.loads((cls.demo / "summary.json").read_text())

    def copy_demo(self):
        shutil.copytree(self.demo, self.folder / "milieu-demo")

    def runs_of(self, story, summary=None):
        return [run for run in (summary or self.summary)["runs"] if run["story"] == story]

    def test_a_story_for_every_context_method(self):
        self.assertEqual(list(dict.fromkeys(run["story"] for run in self.summary["runs"])),
                         ["cac", "dcp", "icc", "exemplar", "dlgmm"])
        for run in self.summary["runs"]:
            self.assertEqual(run["sees_context"], run["method"] == run["story"], run)

    def test_folder_has_data_runs_and_page(self):
        names = {path.name for path in self.demo.iterdir()}
        self.assertLessEqual({"README.txt", "report.html", "summary.json", "runs", "scenes", "bars.npy", "diagonal.npy",
                              "parcels", "measures.npy", "parcels_article.csv", "parcels_shop.csv",
                              "parcel_words_16.npy", "discs.npy", "example.npy", "new.npy"}, names)
        readme = (self.demo / "README.txt").read_text()
        for name in names - {"README.txt"}:
            self.assertRegex(readme, rf"(?m)^  {re.escape(name)}[ /]")
        self.assertEqual(np.load(self.demo / "bars.npy").shape, (200, 576))
        for run in self.summary["runs"]:
            found = {path.name for path in (self.demo / run["folder"]).iterdir()}
            self.assertLessEqual(set(RUN_FILES), found, run["folder"])

    def test_no_file_names_the_place_where_it_was_made(self):
        for path in self.demo.rglob("*"):
            if path.is_file():
                self.assertFalse(b".milieu-tmp-" in path.read_bytes(), path)

    def test_nothing_is_left_beside_the_folder(self):
        self.assertEqual([path.name for path in self.place.iterdir()], ["milieu-demo"])

    def test_table_has_a_row_for_every_run(self):
        for run in self.summary["runs"]:
            figures = "".join(f".* {100 * figure:.1f} %" for figure in run["accuracy"].values())
            self.assertRegex(self.out, rf"(?m)^  {re.escape(run['title'])} {figures} ")

    def best_of(self, story, truth, summary, **what):
        """0 where no such run answers the question."""
        return max(run["accuracy"].get(truth, 0) for run in self.runs_of(story, summary)
                   if all(run[name] == value for name, value in what.items()))

    def check_leads(self, summary):
        for story, truth, lead in (("cac", "article", self.LEAD), ("cac", "shop", 0), ("icc", "size", self.LEAD),
                                   ("exemplar", "kind", self.LEAD), ("dlgmm", "kind", self.LEAD)):
            best = self.best_of(story, truth, summary, sees_context=True)
            self.assertGreater(best, lead + self.best_of(story, truth, summary, sees_context=False, by_hand=False), story)
            # Plain methods that are given the context by hand.
            self.assertGreater(best, self.best_of(story, truth, summary, sees_context=False), story)

    def test_a_piece_alone_does_not_say_what_it_is(self):
        """Told where the articles are, 73 % is the most that one piece can say; cac has the parcel."""
        runs = self.runs_of("cac")
        for run in runs:
            if not run["sees_context"]:
                self.assertEqual(len(run["accuracy"]), 1, run)  # a plain method answers one question
                if not run["by_hand"]:
                    self.assertLess(run["accuracy"]["article"], 0.73, run)
        self.assertGreater(runs[-1]["accuracy"]["article"], 0.73)

    def test_parcels_of_both_shops_are_alike_on_average(self):
        measures = np.load(self.demo / "measures.npy")
        parcels = np.load(self.demo / "parcel_numbers.npy")[:, 0].astype(int)
        shops = np.array((self.demo / "parcels_shop.csv").read_text().split()[1:])
        self.assertEqual([len(set(shops[parcels == p])) for p in range(150)], [1] * 150)
        for column in measures.T:  # 450 pieces each: means of a unit spread differ by 0.07 by chance
            means = [column[shops == shop].mean() for shop in ("shop-A", "shop-B")]
            self.assertLess(abs(means[0] - means[1]), 4 * 0.0667)

    def test_context_leads_in_every_story(self):
        self.check_leads(self.summary)

    def test_context_decides_which_split(self):
        runs = {run["folder"]: run for run in self.runs_of("dcp")}
        diagonal, between = runs["runs/dcp-diagonal"]["accuracy"], runs["runs/dcp-between"]["accuracy"]
        self.assertGreater(diagonal["direction"], 0.9)
        self.assertGreater(between["ground"], 0.9)
        for split in (diagonal["ground"], between["direction"]):
            self.assertLess(split, 0.7)  # 0.5 is chance
        for run in runs.values():  # nothing that does not see the context has both
            self.assertLess(min(run["accuracy"].values()), 0.9)

    def test_garments_are_shown_where_they_are_installed(self):
        self.assertFalse(self.summary["garments"])
        if not pathlib.Path("/usr/share/datasets/fashion-mnist").exists():
            self.skipTest("dataset-fashion-mnist is not installed")
        real = self.succeed("demo", "--json", "--seed", "2").json()
        self.assertTrue(real["garments"])
        self.check_leads(real)

    def test_pages_are_valid_and_complete_in_themselves(self):
        pages = [self.demo / "report.html", *(self.demo / "runs").glob("*/report.html")]
        self.assertEqual(len(pages), len(self.summary["runs"]) + 2)  # exemplar learn has one, too
        for path in pages:
            page = PageReader(path.read_text())
            is_interactive = path.parent.parent.name == "runs"  # the explorer's page inside
            self.assertEqual([fault for fault in page.faults
                              if not (is_interactive and fault == "a script")], [], path)
            for source in page.sources:
                self.assertTrue(source.startswith("data:image/"), source[:80])
            self.assertLess(path.stat().st_size, 4_000_000, path)

    def test_links_of_the_overview_lead_to_the_reports(self):
        links = PageReader((self.demo / "report.html").read_text()).links
        self.assertEqual(sorted(links), sorted(f"{run['folder']}/report.html"
                                               for run in self.summary["runs"]))
        for link in links:
            self.assertTrue((self.demo / link).is_file(), link)

    def test_page_has_every_figure_that_was_printed(self):
        page = html.unescape((self.demo / "report.html").read_text())
        for run in self.summary["runs"]:
            for figure in run["accuracy"].values():
                self.assertTrue(f"{100 * figure:.1f} %" in page, run)

    def test_proposed_commands_work(self):
        self.copy_demo()
        commands = re.findall(r"(?m)^  (milieu .*)$", self.out)
        self.assertEqual(len(commands), 6)
        explore = [command for command in commands if command.startswith("milieu explore ")]
        self.assertEqual(len(explore), 1)  # it runs until it is stopped: test_explore.py
        self.assertTrue(pathlib.Path(self.folder, shlex.split(explore[0])[2]).exists(), explore)
        for command in commands:
            if command not in explore:
                self.succeed(*shlex.split(command)[1:])
        self.assertTrue((self.folder / "my-split" / "report.html").is_file())
        self.assertTrue((self.folder / "my-distance" / "report.html").is_file())
        self.assertTrue((self.folder / "predicted.csv").is_file())

    def test_command_of_a_run_repeats_it(self):
        self.copy_demo()
        for run in self.summary["runs"]:
            if not run["sees_context"] or run["folder"] == "runs/dlgmm-fixed":
                continue  # they take time, and are written as the others
            self.succeed(*shlex.split(run["command"])[1:], "--out", "again", "--force")
            np.testing.assert_array_equal(self.labels("again"),
                                          self.labels("milieu-demo/" + run["folder"]))

    def test_json_is_the_summary_and_nothing_else(self):
        self.copy_demo()
        printed = self.succeed("demo", "--drawn", "--json", "--threads", "1")
        self.assertEqual(printed.err, "")
        self.assertEqual(printed.json()["seed"], 1)
        self.assertEqual([r["accuracy"] for r in printed.json()["runs"]],
                         [r["accuracy"] for r in self.summary["runs"]])

    def test_earlier_demo_is_replaced_whole(self):
        self.copy_demo()
        self.write("milieu-demo/stray.txt", "left over")
        self.succeed("demo", "--drawn", "--quiet", "--seed", "2")
        self.assertFalse((self.folder / "milieu-demo" / "stray.txt").exists())
        self.assertEqual([path.name for path in self.folder.iterdir()], ["milieu-demo"])
        other = np.load(self.folder / "milieu-demo" / "bars.npy")
        self.assertFalse(np.array_equal(other, np.load(self.demo / "bars.npy")))

    def test_folders_of_others_are_left_alone(self):
        (self.folder / "mine").mkdir()
        self.write("mine/thesis.txt", "years of work")
        self.assertEqual(self.fail_with(2, "demo", "--out", "mine"),
                         "folder mine is not empty and not an earlier demo: choose another with --out")
        self.assertEqual((self.folder / "mine" / "thesis.txt").read_text(), "years of work")
        self.write("file", "")
        self.assertEqual(self.fail_with(2, "demo", "--out", "file"),
                         "file is a file, must be a folder: choose another with --out")
        self.assertEqual(self.fail_with(2, "demo", "--out", ""),
                         "--out is empty, must name a folder")

    def test_wrong_options_are_refused(self):
        self.assertIn("seed is 'x'", self.fail_with(2, "demo", "--seed", "x"))
        self.assertIn("num_threads is -1", self.fail_with(2, "demo", "--threads", "-1"))
        self.assertFalse((self.folder / "milieu-demo").exists())

    def test_interrupted_demo_leaves_nothing(self):
        process = self.start("demo")
        deadline = time.monotonic() + 60
        while not any(self.folder.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=300)
        self.assertEqual(process.returncode, 130)
        self.assertEqual([path.name for path in self.folder.iterdir()], [])


if __name__ == "__main__":
    unittest.main()
