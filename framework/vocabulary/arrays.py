"""Array types that all rooms share: whole numbers and truth values, by node, pod or class."""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
