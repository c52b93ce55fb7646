"""The forms of measures as numbers, for kernels that serve several forms."""

POSITIONAL = 0  # sum g[p] D[p]
CASCADE = 1  # sum D[p] g[p] prod_{r<p} (1 - g[r])
CUMULATIVE = 2  # sum D[p] g[p] sum_{r<=p} g[r]
CONCORDANCE = 3  # sum_{p<r} sign(g[p] - g[r])
AVERAGED = 4  # mean over cut-offs of the positional value divided by its ideal
