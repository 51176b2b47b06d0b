"""Client of Sheaf's Chat API. README.md begins with an example; `wire` has the types."""

from .client import Client
from .errors import ApiError, SheafError, StreamBrokenError, TransportError
from .stream import Reconnect, Stream

__all__ = ["ApiError", "Client", "Reconnect", "SheafError", "Stream", "StreamBrokenError", "TransportError"]
