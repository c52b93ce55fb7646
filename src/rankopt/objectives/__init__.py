"""Objectives. A new one is a file and an import line here."""

from rankopt.objectives.approx import Approx as Approx
from rankopt.objectives.base import Objective as Objective
from rankopt.objectives.base import Sloped as Sloped
from rankopt.objectives.base import Stepped as Stepped
from rankopt.objectives.cosine import Cosine as Cosine
from rankopt.objectives.direct import Direct as Direct
from rankopt.objectives.field import PairUpperBound as PairUpperBound
from rankopt.objectives.field import PseudoLikelihood as PseudoLikelihood
from rankopt.objectives.lambdarank import Lambda as Lambda
from rankopt.objectives.listnet import ListNet as ListNet
from rankopt.objectives.luce import Multiclass as Multiclass
from rankopt.objectives.luce import PlackettLuce as PlackettLuce
from rankopt.objectives.luce import ReversePlackettLuce as ReversePlackettLuce
from rankopt.objectives.margin import Margin as Margin
from rankopt.objectives.pairwise import Pairwise as Pairwise
from rankopt.objectives.smooth import Smooth as Smooth
from rankopt.objectives.softrank import SoftRank as SoftRank
from rankopt.objectives.squared import Squared as Squared
from rankopt.objectives.squared_hinge import SquaredHinge as SquaredHinge
from rankopt.registry import Registry

OBJECTIVES: Registry[Objective] = Registry.of("objective", Objective, globals())
