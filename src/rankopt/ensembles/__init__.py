"""Tree ensembles of other libraries: read into packed trees, re-weighted, and written back."""

from rankopt.ensembles.ensemble import Ensemble as Ensemble
from rankopt.ensembles.reading import read_ensemble as read_ensemble
