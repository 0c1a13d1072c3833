// Reference sender of RCTP for Unity. NOT COMPILED OR RUN HERE: see README.md beside it.
using System.Collections.Generic;
using System.IO;
using System.Net.Sockets;
using UnityEngine;
using UnityEngine.InputSystem;
using UnityEngine.XR.Hands;

public sealed class RctpSender : MonoBehaviour
{
    public enum Side { Right, Left }

    [SerializeField] string host = "192.168.1.10";
    [SerializeField] Side side = Side.Right;
    [Tooltip("Held down: every packet asks for an emergency stop.")]
    [SerializeField] InputActionReference emergencyStop;
    [Tooltip("Distance of thumb and index finger that counts as open, metres.")]
    [SerializeField] float openPinchM = 0.07f;
    [Tooltip("Distance that counts as closed.")]
    [SerializeField] float closedPinchM = 0.015f;

    const int PacketBytes = 45;
    readonly byte[] packet = new byte[PacketBytes];
    readonly List<XRHandSubsystem> found = new();
    BinaryWriter writer;
    UdpClient udp;
    XRHandSubsystem hands;
    float openness = 1f;

    void OnEnable()
    {
        // BinaryWriter is little-endian on every platform.
        writer = new BinaryWriter(new MemoryStream(packet));
        udp = new UdpClient();
        udp.Connect(host, side == Side.Right ? 8888 : 8889);
        if (emergencyStop != null) emergencyStop.action.Enable();
    }

    void OnDisable()
    {
        udp?.Dispose();
        writer?.Dispose();
    }

    void FixedUpdate()
    {
        var tracked = TryReadHand(out var pose);
        var stop = MenuIsPressed() || (emergencyStop != null && emergencyStop.action.IsPressed());
        Write(pose, tracked, stop);
        try { udp.Send(packet, PacketBytes); }
        catch (SocketException) { /* The operator holds the robot when packets stay away. */ }
    }

    // With hand tracking there is no controller: Menu is the left hand's pinch while its palm faces the head.
    static bool MenuIsPressed()
    {
        var hand = MetaAimHand.left;
        return hand != null && ((MetaAimFlags)hand.aimFlags.value & MetaAimFlags.MenuPressed) != 0;
    }

    bool TryReadHand(out Pose pose)
    {
        pose = Pose.identity;
        if (hands == null || !hands.running)
        {
            SubsystemManager.GetSubsystems(found);
            hands = found.Count > 0 ? found[0] : null;
            if (hands == null) return false;
        }
        var hand = side == Side.Right ? hands.rightHand : hands.leftHand;
        if (!hand.isTracked || !hand.GetJoint(XRHandJointID.Palm).TryGetPose(out pose)) return false;
        if (hand.GetJoint(XRHandJointID.ThumbTip).TryGetPose(out var thumb) &&
            hand.GetJoint(XRHandJointID.IndexTip).TryGetPose(out var index))
            openness = Mathf.InverseLerp(closedPinchM, openPinchM, Vector3.Distance(thumb.position, index.position));
        return true;
    }

    void Write(Pose pose, bool tracked, bool stop)
    {
        var (p, q) = (pose.position, pose.rotation);
        writer.Seek(0, SeekOrigin.Begin);
        writer.Write(new[] { (byte)'R', (byte)'C', (byte)'T', (byte)'P' });
        writer.Write(Time.realtimeSinceStartupAsDouble);
        // Unity is left-handed with +Z ahead; RCTP is right-handed with -Z ahead.
        foreach (var number in new[] { p.x, p.y, -p.z, -q.x, -q.y, q.z, q.w, openness }) writer.Write(number);
        writer.Write((byte)((tracked ? 1 : 0) | (stop ? 2 : 0)));
        writer.Flush();
    }
}
