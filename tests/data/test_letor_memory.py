"""Peak memory while reading stays under 2.5 times the final arrays."""

import tracemalloc

import pytest

import rankopt
from rankopt.threads import using_threads


def held(data):
    docs = 0 if data.docs is None else data.docs.nbytes
    rows = 0 if data.rows is None else data.rows.nbytes
    return data.X.nbytes + data.y.nbytes + docs + rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    data = rankopt.simulate("mslr_like", scale=0.08, seed=1)
    rankopt.write_letor(folder / "data.txt", data)
    rankopt.write_letor(folder / "data.txt.gz", data)
    text = (folder / "data.txt").read_text().splitlines(keepends=True)
    mixed = [line for start in range(7) for line in text[start::7]]  # all queries return late
    (folder / "shuffled.txt").write_text("".join(mixed))
    return folder


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", ["data.txt", "data.txt.gz", "shuffled.txt"])
def test_peak_memory(folder, name, threads):
    with using_threads(threads):
        rankopt.read_letor(folder / name)  # compiled
        tracemalloc.start()
        try:
            data = rankopt.read_letor(folder / name)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert (data.rows is not None) == (name == "shuffled.txt")
    assert peak < 2.5 * held(data)
