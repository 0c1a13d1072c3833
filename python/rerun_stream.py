"""Logs Farhand's live topics to Rerun. `farhand bridge rerun` starts it and writes one JSON object per line.

Needs the package rerun-sdk. Nothing is read from Rerun.
"""

import argparse
import base64
import json
import sys

import rerun as rr


def log_numbers(path, names, values):
    for name, value in zip(names, values):
        if value is not None:
            rr.log(f"{path}/{name}", rr.Scalars(value))


def log_line(line, names):
    rr.set_time("time", timestamp=line["timeS"])
    for key, path in (("state", "joint_states"), ("command", "command"), ("torque", "torque")):
        if line.get(key):
            log_numbers(f"farhand/{path}", names, line[key])
    for each in line.get("latencyMs", []):
        rr.log("farhand/latency/one_way_ms", rr.Scalars(each))
    if line.get("links"):
        rr.log("farhand/robot", rr.LineStrips3D([line["links"]], radii=0.01))
    if line.get("status"):
        rr.log("farhand/status", rr.TextLog(line["status"]))
    if line.get("picture"):
        camera, data = line["picture"]
        image = rr.EncodedImage(contents=base64.b64decode(data), media_type="image/jpeg")
        rr.log(f"farhand/camera/{camera}", image)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--connect", default="rerun+http://127.0.0.1:9876/proxy")
    parser.add_argument("--save")
    options = parser.parse_args()
    rr.init("farhand")
    if options.save:
        rr.save(options.save)
    else:
        rr.connect_grpc(options.connect)
    names = []
    for text in sys.stdin:
        line = json.loads(text)
        if "names" in line:
            names = line["names"]
        else:
            log_line(line, names)
    rr.disconnect()


if __name__ == "__main__":
    main()
