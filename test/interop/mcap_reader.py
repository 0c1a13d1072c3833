"""Reads a recording with the format's Python library and prints what it read as JSON."""

import hashlib
import json
import sys

from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory as ProtobufDecoderFactory
from mcap_ros2.decoder import DecoderFactory

with open(sys.argv[1], "rb") as stream:
    reader = make_reader(stream, decoder_factories=[DecoderFactory(), ProtobufDecoderFactory()], validate_crcs=True)
    header = reader.get_header()
    summary = reader.get_summary()
    seen = {
        "profile": header.profile,
        "library": header.library,
        "messages": summary.statistics.message_count,
        "metadata": {record.name: json.loads(record.metadata["json"]) for record in reader.iter_metadata()},
        "topics": {},
        "schemas": {channel.topic: summary.schemas[channel.schema_id].name for channel in summary.channels.values()},
    }
    topics = seen["topics"]
    for schema, channel, message, ros in reader.iter_decoded_messages(
        topics=[topic for topic in seen["schemas"] if not topic.endswith(("row", "trace", "event"))]
    ):
        entry = topics.setdefault(channel.topic, {"count": 0})
        entry["count"] += 1
        entry["logTime"] = message.log_time
        if schema.name.endswith("JointState"):
            entry["names"] = list(ros.name)
            entry["positions"] = list(ros.position)
            entry["velocities"] = [None if v != v else v for v in ros.velocity]
            entry["stamp"] = ros.header.stamp.sec * 10**9 + ros.header.stamp.nanosec
        elif schema.name.endswith("CompressedImage"):
            entry["format"] = ros.format
            entry["frame"] = ros.header.frame_id
            entry["sha"] = hashlib.sha256(bytes(ros.data)).hexdigest()
        elif schema.name == "foxglove.CompressedVideo":
            entry["format"] = ros.format
            entry["frame"] = ros.frame_id
            entry["sha"] = hashlib.sha256(ros.data).hexdigest()
            entry["stamp"] = ros.timestamp.ToNanoseconds()
        elif schema.name == "foxglove.RawAudio":
            entry["format"] = ros.format
            entry["sound"] = [ros.sample_rate, ros.number_of_channels, len(ros.data)]
            entry["stamp"] = ros.timestamp.ToNanoseconds()
        elif schema.name.endswith("TFMessage"):
            entry["transforms"] = [
                [
                    each.header.frame_id,
                    each.child_frame_id,
                    [each.transform.translation.x, each.transform.translation.y, each.transform.translation.z],
                ]
                for each in ros.transforms
            ]
        elif schema.name.endswith("PoseStamped"):
            entry["position"] = [ros.pose.position.x, ros.pose.position.y, ros.pose.position.z]
        elif schema.name.endswith("String"):
            entry["text"] = ros.data
        else:
            entry["data"] = list(ros.data)
    rows = [json.loads(message.data) for _, _, message in reader.iter_messages(topics=["/farhand/row"])]
    seen["rows"] = len(rows)
    seen["lastRow"] = rows[-1]
print(json.dumps(seen))
