"""Baselines: the systems that the papers compare with. A new one is a file, an import line here, and its
line in the table of systems.
"""

from rankopt.baselines.adarank import AdaRank as AdaRank
from rankopt.baselines.coordinate_ascent import CoordinateAscent as CoordinateAscent
from rankopt.baselines.lambdamart import LambdaMART as LambdaMART
from rankopt.baselines.lambdarank import LambdaRank as LambdaRank
from rankopt.baselines.listmle import ListMLE as ListMLE
from rankopt.baselines.listnet import ListNet as ListNet
from rankopt.baselines.mart import MART as MART
from rankopt.baselines.rankboost import RankBoost as RankBoost
from rankopt.baselines.rankcosine import RankCosine as RankCosine
from rankopt.baselines.ranknet import RankNet as RankNet
from rankopt.baselines.ranksvm import RankSVM as RankSVM
from rankopt.baselines.ridge import Ridge as Ridge
from rankopt.baselines.smoothgrad import SmoothGrad as SmoothGrad
from rankopt.baselines.softrank import SoftRank as SoftRank
from rankopt.baselines.svmmap import SVMMAP as SVMMAP
