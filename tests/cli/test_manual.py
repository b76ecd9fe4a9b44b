# SPDX-License-Identifier: Apache-2.0
"""milieu manual: a page for every command, with every flag of its help."""

import re
import unittest

from support import CliTest


class ManualTest(CliTest):
    def test_every_command_has_a_page(self):
        out = self.succeed("manual", "--out", "pages").out
        overview = self.succeed("help").out
        commands = re.findall(r"(?m)^  ([a-z]+) {2,}\S", overview.split("To begin")[0])
        pages = {path.name for path in (self.folder / "pages").iterdir()}
        self.assertEqual(out, f"wrote pages: {len(pages)} manual pages\n")
        self.assertLessEqual({f"milieu-{name}.1" for name in commands} | {"milieu.1"}, pages)
        self.assertIn("milieu-icc-classify.1", pages)

    def test_a_page_has_every_flag_of_the_help(self):
        for command in (["dcp"], ["icc", "classify"], ["score"]):
            flags = set(re.findall(r"(?m)^  (?:-\w, )?(--[a-z0-9-]+)", self.succeed("help", *command).out))
            page = self.succeed("manual", "-".join(command)).out.replace("\\-", "-")
            self.assertGreater(len(flags), 1)
            for flag in flags:
                self.assertIn(f"\\fB{flag}\\fR", page)

    def test_the_text_is_safe_for_roff(self):
        page = self.succeed("manual", "kmeans").out
        for line in page.splitlines():
            self.assertRegex(line, r"^(?:\.(?:\\\"|TH|SH|TP|EX|EE|BR)\b|\.\\\"|[^.'])|^$")
            self.assertNotRegex(line, r"(?<!\\)-")

    def test_an_unknown_command_is_refused(self):
        self.assertEqual(self.fail_with(2, "manual", "k-means"),
                         "COMMAND is 'k-means', must be a command, such as dcp or icc-classify")
        self.assertIn("only one of", self.fail_with(2, "manual", "dcp", "--out", "pages"))


if __name__ == "__main__":
    unittest.main()
