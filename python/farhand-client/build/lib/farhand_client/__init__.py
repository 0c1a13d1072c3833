"""Connects to a console of Farhand like a page: reads telemetry, sends poses, records. See docs/library.md."""

from .camera import Camera
from .session import FarhandError, Session, connect

__all__ = ["Camera", "FarhandError", "Session", "connect"]
