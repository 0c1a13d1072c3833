// A CycloneDDS participant that drives a hand: reads joint states, and commands the first pose it has seen, with one
// joint moving away from it and back. Prints what it sees.
// commander DOMAIN TOPIC_PREFIX reliable|best-effort HZ SECONDS JOINT BY_RAD
#include <dds/dds.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "messages.h"

typedef std_msgs_msg_dds__Float64MultiArray_ Command;
typedef sensor_msgs_msg_dds__JointState_ State;

static volatile sig_atomic_t ended = 0;
static void end(int signal) { (void)signal; ended = 1; }

static long received = 0;
static int joints = 0, joint = -1;
static double first[64], position = NAN;

static void take(dds_entity_t reader, const char *name) {
  void *samples[16] = {NULL};
  dds_sample_info_t infos[16];
  dds_return_t count = dds_take(reader, samples, infos, 16, 16);
  if (count <= 0) return;
  for (int i = 0; i < count; i++) {
    const State *state = samples[i];
    if (!infos[i].valid_data || state->position._length != state->name._length || state->name._length > 64) continue;
    if (joints == 0) {
      joints = (int)state->name._length;
      memcpy(first, state->position._buffer, sizeof(double) * (size_t)joints);
      for (int j = 0; j < joints; j++)
        if (strcmp(state->name._buffer[j], name) == 0) joint = j;
    }
    if (joint >= 0) position = state->position._buffer[joint];
    received++;
  }
  dds_return_loan(reader, samples, count);
}

int main(int argc, char **argv) {
  if (argc != 8) return 2;
  const int reliable = strcmp(argv[3], "reliable") == 0;
  const double hz = atof(argv[4]), seconds = atof(argv[5]), by = atof(argv[7]);
  char command_name[128], state_name[128];
  snprintf(command_name, sizeof command_name, "rt/%s/command", argv[2]);
  snprintf(state_name, sizeof state_name, "rt/%s/joint_states", argv[2]);
  signal(SIGTERM, end);
  dds_entity_t participant = dds_create_participant((dds_domainid_t)atoi(argv[1]), NULL, NULL);
  dds_qos_t *qos = dds_create_qos();
  dds_qset_reliability(qos, reliable ? DDS_RELIABILITY_RELIABLE : DDS_RELIABILITY_BEST_EFFORT, DDS_MSECS(100));
  dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, 1000);
  dds_entity_t commands = dds_create_topic(participant, &std_msgs_msg_dds__Float64MultiArray__desc, command_name, NULL, NULL);
  dds_entity_t states = dds_create_topic(participant, &sensor_msgs_msg_dds__JointState__desc, state_name, NULL, NULL);
  dds_entity_t reader = dds_create_reader(participant, states, qos, NULL);
  dds_entity_t writer = dds_create_writer(participant, commands, qos, NULL);
  if (participant < 0 || reader < 0 || writer < 0) return 1;
  printf("{\"ready\":true}\n");
  fflush(stdout);

  double data[64];
  Command command;
  memset(&command, 0, sizeof command);
  command.data._buffer = data;
  long written = 0, counted = 0;
  const dds_time_t start = dds_time();
  dds_time_t reported = start;
  while (!ended && dds_time() - start < (dds_time_t)(seconds * 1e9)) {
    const dds_time_t now = dds_time();
    take(reader, argv[6]);
    if (joint >= 0 && now - start >= (dds_time_t)((written + counted) * 1e9 / hz)) {
      if (written == 0) counted = (long)((double)(now - start) / 1e9 * hz);
      memcpy(data, first, sizeof(double) * (size_t)joints);
      data[joint] += by * 0.5 * (1 - cos(6.283185307 * 0.25 * (double)written / hz));
      command.data._length = command.data._maximum = (uint32_t)joints;
      if (dds_write(writer, &command) >= 0) written++;
    }
    if (now - reported > DDS_MSECS(100)) {
      reported = now;
      printf("{\"received\":%ld,\"written\":%ld,\"joints\":%d,\"joint\":%d,\"moved\":%.5f,\"atS\":%.3f}\n", received, written, joints,
             joint, joint < 0 ? 0.0 : position - first[joint], (double)(now - start) / 1e9);
      fflush(stdout);
    }
    dds_sleepfor(DDS_MSECS(1));
  }
  dds_delete(participant);
  return 0;
}
