"""Parameters of the wrong kind: one line that names the parameter, whatever the system."""

import inspect

import numpy as np
import pytest

import rankopt
from rankopt.errors import SpecError
from rankopt.estimators import SYSTEMS, system
from rankopt.estimators.parameters import check_parameters

PLAIN = {"int", "float", "bool", "tuple[float, float]"}
CASES = [
    (name, parameter.name)
    for name in SYSTEMS
    for parameter in inspect.signature(system(name).__init__).parameters.values()
    if set(str(parameter.annotation).split(" | ")) - {"None"} <= PLAIN
    and parameter.name not in ("self", "random_state", "verbose")
]


@pytest.mark.parametrize(("name", "parameter"), CASES)
def test_a_word_is_no_number(name, parameter):
    model = system(name)(**{parameter: "many"})
    with pytest.raises(SpecError, match=rf"^{parameter}: 'many' is not "):
        model.fit(np.ones((4, 2)), [0, 1, 0, 1])


def test_every_system_has_parameters_that_are_judged():
    assert {name for name, _ in CASES} == set(SYSTEMS)


@pytest.mark.parametrize("name", SYSTEMS)
def test_defaults_pass(name):
    check_parameters(system(name)())


@pytest.mark.parametrize(
    "settings",
    [
        {"n_estimators": np.int32(3), "learning_rate": np.float32(0.5), "folds": None},
        {"bounds": [0, 1], "learning_rate": 1, "verbose": False},
        {"bounds": np.array([0.1, 0.5]), "random_state": np.random.default_rng(0)},
    ],
)
def test_numbers_of_other_libraries_pass(settings):
    check_parameters(rankopt.DirectBoost(**settings))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_estimators": 10.5}, "n_estimators: 10.5 is not a whole number$"),
        ({"folds": 2.5}, "folds: 2.5 is not a whole number or none$"),
        ({"bounds": 3}, r"bounds: 3 is not a pair of numbers, such as \[0.1, 0.5\]"),
        ({"bounds": (False, True)}, "is not a pair of numbers"),
        ({"n_estimators": True}, "n_estimators: True is not a whole number"),
        ({"learning_rate": True}, "learning_rate: True is not a number"),
        ({"bounds": (0.1, 0.2, 0.3)}, "is not a pair of numbers"),
        ({"step": 1}, "step: 1 is not a text"),
        ({"random_state": "x"}, "random_state: 'x' is no seed"),
        ({"random_state": -1}, "random_state: -1 is no seed"),
    ],
)
def test_what_is_wrong_is_named(settings, words):
    with pytest.raises(SpecError, match=words):
        rankopt.DirectBoost(**settings).fit(np.ones((4, 2)), [0, 1, 0, 1])
