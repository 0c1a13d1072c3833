"""MessagePack with arrays encoded as openpi does. No pickles: only arrays of plain numbers are read."""

import msgpack
import numpy as np

DTYPES = {"|u1", "<f4", "<f8", "<i4", "<i8"}


def pack(value):
    return msgpack.packb(value, default=_encoded)


def unpack(data):
    return msgpack.unpackb(data, object_hook=_decoded, strict_map_key=False)


def _encoded(value):
    if not isinstance(value, np.ndarray) or value.dtype.str not in DTYPES:
        raise TypeError(f"{type(value).__name__} cannot be sent")
    value = np.ascontiguousarray(value)
    return {b"__ndarray__": True, b"data": value.tobytes(), b"dtype": value.dtype.str, b"shape": value.shape}


def _decoded(value):
    if b"__ndarray__" not in value:
        return value
    if value[b"dtype"] not in DTYPES:
        raise ValueError(f"an array of {value[b'dtype']} is not accepted")
    return np.frombuffer(value[b"data"], dtype=value[b"dtype"]).reshape(value[b"shape"])
