"""A small search problem to look at: a shop, its products, and what people ask it for.

All of it is made up from the word lists below. Titles and descriptions are texts, and the text
features are computed from them; how useful a product is to a query depends on what the product is,
of which its text tells only a part.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from rankopt.arrays import Floats, Ints
from rankopt.data.dataset import Dataset, dataset

SHELVES = {
    "kitchen": "kettle toaster blender skillet teapot colander whisk casserole grater mug",
    "camping": "tent lantern stove hammock rucksack flask tarpaulin compass cooler blanket",
    "office": "desk chair lamp notebook stapler shelf monitor keyboard planner organiser",
    "garden": "trowel hose wheelbarrow shears planter bench parasol birdhouse rake sprinkler",
    "sport": "bicycle helmet racket kayak skateboard dumbbell treadmill goggles jersey whistle",
}
QUALITIES = (
    "steel ceramic wooden folding waterproof compact cordless insulated adjustable lightweight"
    " padded vintage"
)
USES = "travel children beginners winter balcony gifts students festivals rain workshop"
BRANDS = "Alderby Brisk Corvane Dunmore Elmhart Fennick Gildane Harrowe Ivelle Jorvik"
FILLER = (
    "the a with and for our this made easy every day design quality care home use comes gives new"
    " best ideal sturdy simple guarantee colour size finish clean long lasting light"
)

FEATURES = (
    "title_bm25", "body_bm25", "title_coverage", "body_coverage", "title_words", "brand_sales",
    "pagerank", "clicks", "rating", "freshness", "price", "in_stock",
)  # fmt: skip
_PRODUCTS, _QUERIES = 2400, 320


@dataclass(frozen=True, eq=False, slots=True)
class DemoSearch:
    """A search problem in three parts, and its texts.

    Parameters
    ----------
    train, valid, test : products retrieved for queries, with grades 0 to 4; `docs` names products.
    queries : the text of each query, by its identifier.
    titles : the title of each product, by its identifier.
    """

    train: Dataset
    valid: Dataset
    test: Dataset
    queries: dict[int, str]
    titles: dict[str, str]


@dataclass(frozen=True, slots=True)
class _Product:
    shelf: str
    thing: str
    brand: str
    qualities: frozenset[str]
    uses: frozenset[str]
    name: str
    title: tuple[str, ...]
    body: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Query:
    words: tuple[str, ...]
    shelf: str
    thing: str


@dataclass(frozen=True, eq=False, slots=True)
class _Shop:
    """Products, what is known of each, and their texts."""

    products: list[_Product]
    popularity: Floats
    sales: Floats
    pagerank: Floats
    rating: Floats
    freshness: Floats
    price: Floats
    in_stock: Floats
    titles: _Scorer
    bodies: _Scorer


def demo_search(seed: int = 0) -> DemoSearch:
    """Simulate the search problem of ``rankopt demo``; the same seed gives the same problem.

    >>> search = demo_search()
    >>> search.train.groups.n_queries, search.valid.groups.n_queries, search.test.groups.n_queries
    (200, 60, 60)
    """
    rng = np.random.default_rng(seed)
    shop = _shop(rng)
    queries = [_query(rng) for _ in range(_QUERIES)]
    found = [_retrieved(query, shop.products, rng) for query in queries]
    parts = [_judged(query, rows, shop, rng) for query, rows in zip(queries, found, strict=True)]
    data = dataset(
        np.concatenate([X for X, _ in parts]).astype(np.float32),
        np.concatenate([y for _, y in parts]),
        np.repeat(np.arange(1, _QUERIES + 1), [rows.size for rows in found]),
        docs=np.array([f"product-{i + 1}" for i in np.concatenate(found).tolist()]),
        features=FEATURES,
        name="the demo's search problem",
    )
    return DemoSearch(
        data.take(np.arange(200)),
        data.take(np.arange(200, 260)),
        data.take(np.arange(260, _QUERIES)),
        {i: " ".join(query.words) for i, query in enumerate(queries, 1)},
        {f"product-{i}": product.name for i, product in enumerate(shop.products, 1)},
    )


def _shop(rng: np.random.Generator) -> _Shop:
    products = [_product(rng) for _ in range(_PRODUCTS)]
    popularity = rng.standard_normal(_PRODUCTS)
    sales: dict[str, float] = {brand: 20.0 + 15.0 * i for i, brand in enumerate(BRANDS.split())}
    return _Shop(
        products,
        popularity,
        sales=np.array([sales[product.brand] for product in products]),
        pagerank=np.exp(0.8 * popularity + 0.6 * rng.standard_normal(_PRODUCTS)).round(3),
        rating=np.clip((7.6 + 1.4 * rng.standard_normal(_PRODUCTS)).round() / 2.0, 1.0, 5.0),
        freshness=np.exp(-rng.exponential(1.0, _PRODUCTS)).round(3),
        price=np.exp(3.0 + 0.8 * rng.standard_normal(_PRODUCTS)).round(2),
        in_stock=(rng.random(_PRODUCTS) < 0.85).astype(np.float64),
        titles=_Scorer([product.title for product in products]),
        bodies=_Scorer([product.body for product in products]),
    )


def _judged(
    query: _Query, rows: Ints, shop: _Shop, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Features and grades of the products retrieved for a query."""
    use = np.array([_match(query, shop.products[i]) for i in rows])
    use += 0.25 * shop.popularity[rows] + 0.3 * (shop.rating[rows] - 3.8)
    use += 0.5 * shop.freshness[rows] - 0.8 * (1.0 - shop.in_stock[rows])
    clicks = np.floor(np.exp(0.6 * use + 0.5 * shop.popularity[rows] + rng.normal(size=rows.size)))
    title, body = shop.titles.of(query.words, rows), shop.bodies.of(query.words, rows)
    X = np.column_stack(
        [
            title[:, 0], body[:, 0], title[:, 1], body[:, 1], shop.titles.lengths[rows],
            shop.sales[rows], shop.pagerank[rows], clicks, shop.rating[rows],
            shop.freshness[rows], shop.price[rows], shop.in_stock[rows],
        ]
    )  # fmt: skip
    grades = np.searchsorted([1.2, 2.1, 2.9, 3.6], use + 0.4 * rng.normal(size=rows.size))
    return X, grades.astype(np.float64)


def _match(query: _Query, product: _Product) -> float:
    asked = [word for word in query.words if word not in {"for", query.thing}]
    met = sum(word in product.qualities or word in product.uses for word in asked)
    share = met / len(asked) if asked else 0.6
    # a quality counts for little on a product of another kind
    return 1.0 + 1.8 * share if product.thing == query.thing else 0.3 * share


def _pick(rng: np.random.Generator, text: str, n: int = 1) -> list[str]:
    words = text.split()
    return [words[i] for i in rng.permutation(len(words))[:n].tolist()]


def _product(rng: np.random.Generator) -> _Product:
    (shelf,) = _pick(rng, " ".join(SHELVES))
    (thing,) = _pick(rng, SHELVES[shelf])
    qualities = _pick(rng, QUALITIES, int(rng.integers(1, 5)))
    uses = _pick(rng, USES, int(rng.integers(1, 4)))
    (brand,) = _pick(rng, BRANDS)
    # titles name some of what a product is, and now and then what it merely goes with
    named = [quality for quality in qualities if rng.random() < 0.6]
    extra = [word for word in _pick(rng, SHELVES[shelf]) if word != thing and rng.random() < 0.15]
    title = [*named, thing, *(["for", *extra] if extra else [])]
    others = [*_pick(rng, f"{QUALITIES} {USES}", 2), *_pick(rng, SHELVES[shelf])]
    told = [word for word in [*qualities, *uses, thing, *others] if rng.random() < 0.8]
    filler = FILLER.split()
    told += [filler[i] for i in rng.integers(0, len(filler), int(rng.integers(10, 40))).tolist()]
    return _Product(
        shelf,
        thing,
        brand,
        frozenset(qualities),
        frozenset(uses),
        " ".join([brand, *title]),
        (brand.lower(), *title),
        tuple(told),
    )


def _query(rng: np.random.Generator) -> _Query:
    (shelf,) = _pick(rng, " ".join(SHELVES))
    (thing,) = _pick(rng, SHELVES[shelf])
    words = [*_pick(rng, QUALITIES, int(rng.integers(0, 3))), thing]
    if rng.random() < 0.4:
        words += ["for", *_pick(rng, USES)]
    return _Query(tuple(words), shelf, thing)


def _retrieved(query: _Query, products: list[_Product], rng: np.random.Generator) -> Ints:
    """Products that share a word with the query: those of its kind, and some others."""
    wanted = set(query.words) - {"for"}
    shelf = [i for i, product in enumerate(products) if product.shelf == query.shelf]
    kind = [i for i in shelf if query.thing in products[i].title]
    others = [i for i in shelf if i not in kind and wanted.intersection(products[i].body)]
    size = int(np.clip(np.rint(20.0 * np.exp(0.5 * rng.standard_normal())), 4, 80))
    some = _choice(rng, kind, (2 * size) // 3 + 1) + _choice(rng, others, size // 3 + 1)
    return rng.permutation(np.array(some))


def _choice(rng: np.random.Generator, numbers: list[int], n: int) -> list[int]:
    return [numbers[i] for i in rng.permutation(len(numbers))[:n].tolist()]


class _Scorer:
    """BM25, and the share of the query's words that a text has."""

    def __init__(self, texts: list[tuple[str, ...]]) -> None:
        self.counts = [Counter(text) for text in texts]
        self.lengths = np.array([len(text) for text in texts], np.float64)
        holding = Counter(word for text in texts for word in set(text))
        n = len(texts)
        self.idf = {w: float(np.log1p((n - df + 0.5) / (df + 0.5))) for w, df in holding.items()}

    def of(self, words: tuple[str, ...], texts: Ints) -> Floats:
        out = np.zeros((texts.size, 2))
        average = self.lengths.mean()
        for row, text in enumerate(texts.tolist()):
            for word in words:
                count = self.counts[text][word]
                saturated = count + 1.2 * (0.25 + 0.75 * self.lengths[text] / average)
                out[row, 0] += self.idf.get(word, 0.0) * 2.2 * count / saturated
                out[row, 1] += (count > 0) / len(words)
        return np.round(out, 4)
