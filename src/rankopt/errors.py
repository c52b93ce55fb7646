"""The errors rankopt raises: each names the thing, the value and the way out."""


class RankoptError(Exception):
    """Base of all errors that rankopt raises on purpose."""


class DataError(RankoptError, ValueError):
    """Data that cannot be read or does not fit together."""


class SpecError(RankoptError, ValueError):
    """A text spec or parameter that names nothing rankopt knows."""


class IncompatibleError(RankoptError, TypeError):
    """Parts that cannot work together; raised before any work starts."""


class ExportError(RankoptError, ValueError):
    """A model that the target format cannot express."""


class ModelError(RankoptError, ValueError):
    """A model file that cannot be read."""
