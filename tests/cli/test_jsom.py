# SPDX-License-Identifier: Apache-2.0
"""milieu jsom: joint scene object model of counts."""

import unittest

from test_bags import CountsTest


class JsomTest(CountsTest):
    runs = (["jsom", "--topics", "6"],)


del CountsTest  # its own tests run in test_bags.py

if __name__ == "__main__":
    unittest.main()
