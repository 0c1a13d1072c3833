"""Serves a LeRobot checkpoint with openpi's protocol: MessagePack over WebSocket."""
