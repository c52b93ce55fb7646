"""Scoring rankings and comparing them.

Not named after its function: a package `rankopt.evaluate` would hide `rankopt.evaluate`.
"""
