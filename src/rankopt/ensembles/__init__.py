"""Tree ensembles of other libraries: read into packed trees, re-weighted, and written back."""
