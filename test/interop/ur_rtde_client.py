"""Reads a controller with SDU's ur_rtde, powers it on through its dashboard, and prints what it read as JSON."""
import json
import sys
import time

from dashboard_client import DashboardClient
from rtde_receive import RTDEReceiveInterface

host, hz = sys.argv[1], float(sys.argv[2])
receive = RTDEReceiveInterface(host, hz)
seen = {
    "connected": receive.isConnected(),
    "q": receive.getActualQ(),
    "pose": receive.getActualTCPPose(),
    "modes": [receive.getRobotMode()],
    "safety": receive.getSafetyMode(),
    "runtime": receive.getRuntimeState(),
}
dashboard = DashboardClient(host)
dashboard.connect()
seen["said"] = [dashboard.robotmode()]


def wait_for(mode):
    until = time.monotonic() + 5
    while receive.getRobotMode() != mode and time.monotonic() < until:
        time.sleep(0.01)
    seen["modes"].append(receive.getRobotMode())
    seen["said"].append(dashboard.robotmode())


dashboard.powerOn()
wait_for(5)
dashboard.brakeRelease()
wait_for(7)
began, first = time.monotonic(), receive.getTimestamp()
time.sleep(1)
seen["clock"] = (receive.getTimestamp() - first) / (time.monotonic() - began)
receive.disconnect()
dashboard.disconnect()
print(json.dumps(seen))
