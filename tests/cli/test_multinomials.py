# SPDX-License-Identifier: Apache-2.0
"""milieu multinomials: mixture of multinomials of counts."""

import unittest

from test_bags import CountsTest


class MultinomialsTest(CountsTest):
    runs = (["multinomials"],)


del CountsTest  # its own tests run in test_bags.py

if __name__ == "__main__":
    unittest.main()
