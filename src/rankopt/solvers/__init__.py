"""Solvers. A new one is a file and an import line here."""

from rankopt.registry import Registry
from rankopt.solvers.adam import Adam as Adam
from rankopt.solvers.annealed import Annealed as Annealed
from rankopt.solvers.bundle import Bundle as Bundle
from rankopt.solvers.cg import CG as CG
from rankopt.solvers.concave_convex import ConcaveConvex as ConcaveConvex
from rankopt.solvers.cutting_plane import CuttingPlane as CuttingPlane
from rankopt.solvers.lbfgs import LBFGS as LBFGS
from rankopt.solvers.problem import L2 as L2
from rankopt.solvers.problem import SOLVERS as SOLVERS
from rankopt.solvers.problem import Need as Need
from rankopt.solvers.problem import Problem as Problem
from rankopt.solvers.problem import Solver as Solver
from rankopt.solvers.restarts import Restarts as Restarts
from rankopt.solvers.sgd import SGD as SGD
from rankopt.solvers.subgradient import Subgradient as Subgradient

SOLVERS.classes.update(Registry.of("solver", Solver, globals()).classes)
