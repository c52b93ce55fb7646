"""Words of questions and answers as features, through scikit-learn's vectorizers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from rankopt.arrays import Floats
from rankopt.data.dataset import Dataset, Texts
from rankopt.errors import DataError, ModelError, SpecError
from rankopt.registry import Registry
from rankopt.spec import format_spec

_LARGEST = 1 << 26  # buckets and words of a side: what a file of unknown origin may ask for


@dataclass(frozen=True)
class Words:
    r"""How text becomes features: which words count, and how much.

    The vocabularies of questions and of answers are apart, each made of the most frequent words of the
    training data, as the paper has it. With ``hashed`` there is no vocabulary: every word falls into one of
    `n` buckets, with a sign, for data with more words than fit.

    Parameters
    ----------
    n : words of each side, or buckets.
    weighting : ``tf``, the count of a word; ``tf-idf``, which in addition weighs words by how few texts
        have them; ``binary``, whether there are any.
    stop_words : ``english`` leaves out the words that scikit-learn's list names; None keeps them.
    hashed : buckets instead of a vocabulary.
    ngrams : up to how many words in a row count as one.
    norm : ``l2`` brings every text to length 1; None does not.

    References
    ----------
    [tran2011learning]_, section 4; [weinberger2009feature]_

    Examples
    --------
    >>> from rankopt.data.groups import Groups
    >>> texts = Texts(np.array(["who wrote emma"]), np.array(["jane austen wrote", "emma stone"]))
    >>> data = Dataset(np.empty((2, 0)), None, Groups.from_sizes([2]), texts=texts)
    >>> Words().fitted(data).answers.words
    ('austen', 'emma', 'jane', 'stone', 'wrote')
    """

    name: ClassVar[str] = "words"
    n: int = 3000
    weighting: Literal["tf", "tf-idf", "binary"] = "tf"
    stop_words: Literal["english"] | None = "english"
    hashed: bool = False
    ngrams: int = 1
    norm: Literal["l2"] | None = "l2"

    def __post_init__(self) -> None:
        if self.weighting not in ("tf", "tf-idf", "binary"):
            raise SpecError(
                f"words: unknown weighting {self.weighting!r}; use tf, tf-idf or binary"
            )
        if self.stop_words not in ("english", None) or self.norm not in ("l2", None):
            raise SpecError("words: stop_words is english or none, norm is l2 or none")
        if not 1 <= self.n <= _LARGEST or self.n != int(self.n):
            raise SpecError(f"words: n = {self.n!r} must be a whole number from 1 to {_LARGEST}")
        if not 1 <= self.ngrams <= 5 or self.ngrams != int(self.ngrams):
            raise SpecError(f"words: ngrams = {self.ngrams!r} must be 1 to 5")

    def fitted(self, data: Dataset) -> Vocabulary:
        """The vocabularies of training data."""
        texts = texts_of(data)
        return Vocabulary(
            self,
            Side.of(self, texts.questions, f"{data.name}: questions"),
            Side.of(self, texts.answers, f"{data.name}: answers"),
        )

    def __str__(self) -> str:
        return format_spec(self)


WORDS: Registry[Words] = Registry.of("text", Words, globals())


@dataclass(frozen=True, eq=False)
class Side:
    """The words of the questions or of the answers.

    Parameters
    ----------
    words : in order of their columns; empty where words are hashed.
    idf : weights of the columns, or empty.
    """

    words: tuple[str, ...]
    idf: Floats

    @classmethod
    def of(cls, spec: Words, texts: NDArray[Any], name: str) -> Side:
        from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

        if spec.hashed:
            counts, words = _hasher(spec).transform(texts.tolist()), ()
        else:
            counter = CountVectorizer(
                max_features=spec.n, stop_words=spec.stop_words, ngram_range=(1, spec.ngrams)
            )
            try:
                counts = counter.fit_transform(texts.tolist())
            except ValueError:
                raise DataError(
                    f"{name} hold no word that counts; stop words and single letters do not:"
                    " text=words(stop_words=none) keeps the former"
                ) from None
            words = tuple(str(word) for word in counter.get_feature_names_out())
        idf = np.empty(0)
        if spec.weighting == "tf-idf":
            idf = np.asarray(TfidfTransformer().fit(counts).idf_, dtype=np.float64)
        return cls(words, idf)

    def features(self, spec: Words, texts: NDArray[Any]) -> Any:
        """Sparse features of texts."""
        from scipy.sparse import csr_array, diags_array
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.preprocessing import normalize

        if spec.hashed:
            counts: Any = _hasher(spec).transform(texts.tolist())
        else:
            counter = CountVectorizer(
                vocabulary=list(self.words),
                ngram_range=(1, spec.ngrams),
                stop_words=spec.stop_words,
            )
            counts = counter.transform(texts.tolist())
        weighted: Any = csr_array(counts, dtype=np.float64)
        if spec.weighting == "binary":
            weighted.data = np.sign(weighted.data)
        if self.idf.size:
            weighted = csr_array(weighted @ diags_array(self.idf))
        return csr_array(weighted if spec.norm is None else normalize(weighted, spec.norm))


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """`Words` with the vocabularies of training data: what turns text into features.

    Parameters
    ----------
    spec : how.
    questions, answers : the words of each side.
    """

    spec: Words
    questions: Side
    answers: Side

    @property
    def widths(self) -> tuple[int, int]:
        """Numbers of features of answers and of questions."""
        if self.spec.hashed:
            return self.spec.n, self.spec.n
        return len(self.answers.words), len(self.questions.words)

    def apply(self, data: Dataset) -> Dataset:
        """The data with features instead of text."""
        texts = texts_of(data)
        return replace(
            data,
            X=self.answers.features(self.spec, texts.answers),
            Q=self.questions.features(self.spec, texts.questions),
            features=(),
            texts=None,
        )

    def check(self) -> None:
        """Refuse vocabularies, from a file of unknown origin, that do not fit together."""
        for side, width in zip((self.answers, self.questions), self.widths, strict=True):
            if self.spec.hashed and side.words:
                raise ModelError("words(hashed=true) has no vocabulary, but the file holds one")
            if not width or len(set(side.words)) != len(side.words):
                raise ModelError("a vocabulary is empty, or holds a word twice")
            if side.idf.size != (width if self.spec.weighting == "tf-idf" else 0):
                raise ModelError(f"{side.idf.size} weights for {width} words")
            if side.idf.dtype != np.float64 or not np.isfinite(side.idf).all():
                raise ModelError("weights of words must be finite float64 values")


def texts_of(data: Dataset) -> Texts:
    """The text; a `DataError` where there is none."""
    if data.texts is None:
        raise DataError(
            f"{data.name}: holds features, but the model takes text; read it by rankopt.read_pairs"
        )
    return data.texts


def _hasher(spec: Words) -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer

    raw: Any = None  # which the parameter takes, though its stub does not
    return HashingVectorizer(
        n_features=spec.n, stop_words=spec.stop_words, ngram_range=(1, spec.ngrams), norm=raw
    )
