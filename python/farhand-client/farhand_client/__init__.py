"""Connects to a console of Farhand like a page: reads telemetry, sends poses, records. See docs/library.md."""

from .session import FarhandError, Session, connect

__all__ = ["FarhandError", "Session", "connect"]
