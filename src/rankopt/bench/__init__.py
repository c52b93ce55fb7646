"""The tables of the papers: systems trained, chosen and tested on folds, by one protocol."""
