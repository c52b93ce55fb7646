"""Scorers. A new one is a file and an import line here."""

from rankopt.registry import Registry
from rankopt.scorers.base import Scorer as Scorer
from rankopt.scorers.bilinear import Bilinear as Bilinear
from rankopt.scorers.distance import Distance as Distance
from rankopt.scorers.forest import Forest as Forest
from rankopt.scorers.kernel import Kernel as Kernel
from rankopt.scorers.linear import Linear as Linear
from rankopt.scorers.quadratic import Quadratic as Quadratic
from rankopt.scorers.stumps import Stumps as Stumps

SCORERS: Registry[Scorer] = Registry.of("scorer", Scorer, globals())
