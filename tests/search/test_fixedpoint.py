"""What has no exact search says so."""

import pytest

import rankopt
from rankopt.errors import IncompatibleError


def test_a_measure_of_another_form_is_refused():
    with pytest.raises(IncompatibleError, match="mean-ndcg is a measure of the averaged form"):
        rankopt.line_search([1.0, 2.0], [0.0, 1.0], [0, 1], measure="mean-ndcg")
