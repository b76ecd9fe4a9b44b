# SPDX-License-Identifier: Apache-2.0
"""Types that several files name."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
