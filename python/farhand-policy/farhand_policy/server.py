"""`python -m farhand_policy CHECKPOINT`: answers observations with chunks of actions."""

import argparse
import logging
import traceback

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve

from .arrays import pack, unpack
from .checkpoint import Checkpoint

MAX_REQUEST_BYTES = 64 * 2**20


def handler(checkpoint):
    metadata = {"cameras": checkpoint.cameras, "policy": checkpoint.config.type}
    if checkpoint.fps is not None:
        metadata["fps"] = checkpoint.fps

    def answer(socket):
        # One person's attempt is not another's: what the policy remembers ends with a connection.
        checkpoint.reset()
        try:
            socket.send(pack(metadata))
            for request in socket:
                try:
                    socket.send(pack({"actions": checkpoint.actions(unpack(request))}))
                except ConnectionClosed:
                    raise
                except Exception:  # a bad request never ends the server; as openpi, it answers with a text
                    socket.send(traceback.format_exc(limit=3))
        except ConnectionClosed:
            pass

    return answer


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", help="folder or Hub name of a LeRobot policy")
    parser.add_argument("--port", type=int, default=8000, help="0 chooses a free one (default: 8000)")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine only)")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or mps (default: cpu)")
    args = parser.parse_args()
    logging.basicConfig(level=logging.WARNING)
    checkpoint = Checkpoint(args.checkpoint, args.device)
    with serve(handler(checkpoint), args.host, args.port, max_size=MAX_REQUEST_BYTES, compression=None) as server:
        port = server.socket.getsockname()[1]
        print(f"listening ws://{args.host}:{port}", flush=True)
        server.serve_forever()
