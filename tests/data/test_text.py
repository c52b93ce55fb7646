"""Words as features: against scikit-learn's vectorizers by hand."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

from rankopt.data.dataset import Dataset, Texts, dataset
from rankopt.data.groups import Groups
from rankopt.data.text import WORDS, Words
from rankopt.errors import DataError, SpecError

QUESTIONS = ["who wrote the novel emma", "where is the river nile", "who is who"]
ANSWERS = [
    "jane austen wrote emma",
    "emma emma stone",
    "the nile",
    "in egypt",
    "a book of names",
    "",
]
NEW = Dataset(
    np.empty((2, 0)), None, Groups.from_sizes([2]),
    texts=Texts(np.array(["who wrote nile"]), np.array(["emma wrote egypt egypt unknown", "zzz"])),
)  # fmt: skip


def problem():
    texts = Texts(np.array(QUESTIONS), np.array(ANSWERS))
    return Dataset(np.empty((6, 0)), None, Groups.from_sizes([2, 2, 2]), texts=texts)


@pytest.mark.parametrize(
    ("text", "make"),
    [
        ("words", lambda: TfidfVectorizer(use_idf=False, stop_words="english")),
        ("words(weighting=tf-idf, n=4)", lambda: TfidfVectorizer(max_features=4, stop_words="english")),
        ("words(norm=none, stop_words=none)", CountVectorizer),
        ("words(norm=none, weighting=binary, ngrams=2)",
         lambda: CountVectorizer(binary=True, ngram_range=(1, 2), stop_words="english")),
        ("words(hashed=true, n=64)", lambda: HashingVectorizer(n_features=64, stop_words="english")),
    ],
)  # fmt: skip
def test_features_are_those_of_the_vectorizers(text, make):
    fitted = WORDS.build(text).fitted(problem())
    fitted.check()
    for data in (problem(), NEW):
        found = fitted.apply(data)
        assert isinstance(found.X, csr_array)
        assert isinstance(found.Q, csr_array)
        assert found.texts is None
        expected = make().fit(ANSWERS).transform(data.texts.answers)
        np.testing.assert_allclose(found.X.toarray(), expected.toarray(), rtol=1e-12)
        expected = make().fit(QUESTIONS).transform(data.texts.questions)
        np.testing.assert_allclose(found.Q.toarray(), expected.toarray(), rtol=1e-12)
    assert fitted.widths == (found.X.shape[1], found.Q.shape[1])
    assert WORDS.build(str(fitted.spec)) == fitted.spec


def test_the_most_frequent_words_are_kept():
    assert Words(n=1).fitted(problem()).answers.words == ("emma",)


def test_what_cannot_be_is_refused():
    for text, words in {
        "words(weighting=bm25)": "unknown weighting 'bm25'",
        "words(n=0)": "n = 0",
        "words(ngrams=9)": "ngrams = 9",
        "words(stop_words=german)": "stop_words is english or none",
        "word": "did you mean 'words'",
    }.items():
        with pytest.raises(SpecError, match=words):
            WORDS.build(text)
    texts = Texts(np.array(["who is the"]), np.array(["a", "b"]))
    only_stop_words = Dataset(np.empty((2, 0)), None, Groups.from_sizes([2]), texts=texts)
    with pytest.raises(DataError, match="questions hold no word that counts"):
        Words().fitted(only_stop_words)
    with pytest.raises(DataError, match="holds features, but the model takes text"):
        Words().fitted(problem()).apply(dataset([[1.0]]))
