"""Reads a recording's rows, traces and pictures with the format's Python library, without Farhand: RECORDING FOLDER."""

import json
import sys
from pathlib import Path

from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

recording, folder = sys.argv[1:]
names = []
parts = {"/farhand/command": {}, "/farhand/joint_states": {}}
rows = []
traces = []
with open(recording, "rb") as stream:
    reader = make_reader(stream, decoder_factories=[DecoderFactory()], validate_crcs=True)
    ros = [
        channel.topic
        for channel in reader.get_summary().channels.values()
        if channel.topic in parts or channel.topic.startswith("/farhand/camera/")
    ]
    for _, channel, message, decoded in reader.iter_decoded_messages(topics=ros):
        if channel.topic == "/farhand/command":
            parts[channel.topic][message.sequence] = list(decoded.data)
        elif channel.topic == "/farhand/joint_states":
            parts[channel.topic][message.sequence] = list(decoded.position)
            names = list(decoded.name)
        else:
            (Path(folder) / f"{decoded.header.frame_id.replace(':', '-')}.jpg").write_bytes(bytes(decoded.data))
    for _, channel, message in reader.iter_messages(topics=["/farhand/row", "/farhand/trace"]):
        value = json.loads(message.data)
        if channel.topic == "/farhand/trace":
            traces.append(value)
        else:
            row = {key: value[key] for key in ("timeNs", "seq", "supervisor", "frames")}
            row["command"] = parts["/farhand/command"][message.sequence]
            row["state"] = parts["/farhand/joint_states"][message.sequence]
            rows.append(row)
(Path(folder) / "rows.json").write_text(json.dumps({"names": names, "rows": rows, "traces": traces}))
print(json.dumps({"rows": len(rows), "names": names}))
