// A gripper with one hobby servo on an Arduino with an Ethernet shield: the device side of `robot.gripper=servo-gripper`.
// UNVERIFIED ON HARDWARE: compiled by nobody yet. The protocol is in docs/grippers.md.
#include <Ethernet.h>
#include <EthernetUdp.h>
#include <Servo.h>

const byte MAC[] = {0x02, 0x46, 0x48, 0x47, 0x00, 0x01};
const IPAddress ADDRESS(192, 168, 0, 110);
const unsigned int PORT = 4790;
const int SERVO_PIN = 9;
// Angles of the servo's horn where the fingers are open and closed.
const int OPEN_DEG = 20;
const int CLOSED_DEG = 150;
// The servo reports nothing: its position is where it was sent, at this speed.
const float PERMILLE_PER_MS = 2.0;

EthernetUDP udp;
Servo servo;
float position = 0;
float target = 0;
unsigned long steppedMs = 0;

void setup() {
  Ethernet.begin(const_cast<byte *>(MAC), ADDRESS);
  udp.begin(PORT);
  servo.write(OPEN_DEG);
  servo.attach(SERVO_PIN);
  steppedMs = millis();
}

void step() {
  const unsigned long nowMs = millis();
  const float room = PERMILLE_PER_MS * (nowMs - steppedMs);
  steppedMs = nowMs;
  position += constrain(target - position, -room, room);
  servo.write(OPEN_DEG + (CLOSED_DEG - OPEN_DEG) * position / 1000);
}

// "G <number> <target | ? | H>" → "P <number> <position>". Anything else is ignored.
void answer(char *text) {
  const char *verb = strtok(text, " \n");
  const char *number = strtok(nullptr, " \n");
  const char *request = strtok(nullptr, " \n");
  if (request == nullptr || strcmp(verb, "G") != 0) return;
  if (request[0] == 'H') target = position;
  else if (request[0] != '?') target = constrain(atoi(request), 0, 1000);
  char reply[32];
  snprintf(reply, sizeof(reply), "P %s %d", number, (int)position);
  udp.beginPacket(udp.remoteIP(), udp.remotePort());
  udp.write(reply);
  udp.endPacket();
}

void loop() {
  step();
  if (udp.parsePacket() == 0) return;
  char text[32];
  const int bytes = udp.read(text, sizeof(text) - 1);
  if (bytes <= 0) return;
  text[bytes] = 0;
  answer(text);
}
