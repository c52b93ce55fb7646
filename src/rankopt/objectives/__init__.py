"""Objectives. A new one is a file and an import line here."""

from rankopt.objectives.approx import Approx as Approx
from rankopt.objectives.base import Objective as Objective
from rankopt.objectives.base import Sloped as Sloped
from rankopt.objectives.base import Stepped as Stepped
from rankopt.objectives.direct import Direct as Direct
from rankopt.objectives.margin import Margin as Margin
from rankopt.objectives.smooth import Smooth as Smooth
from rankopt.registry import Registry

OBJECTIVES: Registry[Objective] = Registry.of("objective", Objective, globals())
