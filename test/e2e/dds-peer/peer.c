// A CycloneDDS participant: writes joint states numbered in position[0], reads commands numbered in data[0], counts.
// peer DOMAIN TOPIC_PREFIX reliable|best-effort HZ SECONDS JOINTS
#include <dds/dds.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "messages.h"

typedef std_msgs_msg_dds__Float64MultiArray_ Command;
typedef sensor_msgs_msg_dds__JointState_ State;

static volatile sig_atomic_t ended = 0;
static void end(int signal) { (void)signal; ended = 1; }

static long received = 0, gaps = 0, repeats = 0, wrong = 0;
static double last = -1;

static void take(dds_entity_t reader, int joints) {
  void *samples[16] = {NULL};
  dds_sample_info_t infos[16];
  dds_return_t count = dds_take(reader, samples, infos, 16, 16);
  if (count <= 0) return;
  for (int i = 0; i < count; i++) {
    const Command *command = samples[i];
    if (!infos[i].valid_data) continue;
    if ((int)command->data._length != joints || command->data._buffer[joints - 1] != -command->data._buffer[0]) wrong++;
    double number = command->data._buffer[0];
    if (last >= 0 && number > last + 1) gaps += (long)(number - last - 1);
    if (last >= 0 && number <= last) repeats++;
    last = number;
    received++;
  }
  dds_return_loan(reader, samples, count);
}

static void fill(State *state, int joints) {
  memset(state, 0, sizeof *state);
  state->header.frame_id = "hand";
  state->name._length = state->name._maximum = (uint32_t)joints;
  state->name._buffer = calloc((size_t)joints, sizeof(char *));
  for (int i = 0; i < joints; i++) {
    state->name._buffer[i] = malloc(24);
    snprintf(state->name._buffer[i], 24, "joint_%d", i);
  }
  dds_sequence_double *lists[] = {(void *)&state->position, (void *)&state->velocity};
  for (int l = 0; l < 2; l++) {
    lists[l]->_length = lists[l]->_maximum = (uint32_t)joints;
    lists[l]->_buffer = calloc((size_t)joints, sizeof(double));
    for (int i = 0; i < joints; i++) lists[l]->_buffer[i] = 0.25 * i + l;
  }
}

int main(int argc, char **argv) {
  if (argc != 7) return 2;
  const int domain = atoi(argv[1]), joints = atoi(argv[6]);
  const int reliable = strcmp(argv[3], "reliable") == 0;
  const double hz = atof(argv[4]), seconds = atof(argv[5]);
  char command_name[128], state_name[128];
  snprintf(command_name, sizeof command_name, "rt/%s/command", argv[2]);
  snprintf(state_name, sizeof state_name, "rt/%s/joint_states", argv[2]);
  signal(SIGTERM, end);

  dds_entity_t participant = dds_create_participant((dds_domainid_t)domain, NULL, NULL);
  dds_qos_t *qos = dds_create_qos();
  dds_qset_reliability(qos, reliable ? DDS_RELIABILITY_RELIABLE : DDS_RELIABILITY_BEST_EFFORT, DDS_MSECS(100));
  // CycloneDDS re-requests after 100 ms; what it holds back until then must fit, or it is overwritten.
  dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, 1000);
  dds_entity_t commands = dds_create_topic(participant, &std_msgs_msg_dds__Float64MultiArray__desc, command_name, NULL, NULL);
  dds_entity_t states = dds_create_topic(participant, &sensor_msgs_msg_dds__JointState__desc, state_name, NULL, NULL);
  dds_entity_t reader = dds_create_reader(participant, commands, qos, NULL);
  dds_entity_t writer = dds_create_writer(participant, states, qos, NULL);
  if (participant < 0 || reader < 0 || writer < 0) return 1;

  State state;
  fill(&state, joints);
  printf("{\"ready\":true}\n");
  fflush(stdout);
  long written = 0;
  const dds_time_t start = dds_time();
  dds_time_t reported = start;
  while (!ended && dds_time() - start < (dds_time_t)(seconds * 1e9)) {
    const dds_time_t now = dds_time();
    if (now - start >= (dds_time_t)(written * 1e9 / hz)) {
      state.header.stamp.sec = (int32_t)(now / 1000000000);
      state.header.stamp.nanosec = (uint32_t)(now % 1000000000);
      state.position._buffer[0] = (double)written++;
      if (dds_write(writer, &state) < 0) wrong++;
    }
    take(reader, joints);
    if (now - reported > DDS_MSECS(200)) {
      reported = now;
      printf("{\"received\":%ld,\"gaps\":%ld,\"repeats\":%ld,\"wrong\":%ld,\"written\":%ld}\n", received, gaps, repeats, wrong, written);
      fflush(stdout);
    }
    dds_sleepfor(DDS_MSECS(1));
  }
  take(reader, joints);
  printf("{\"end\":true,\"received\":%ld,\"gaps\":%ld,\"repeats\":%ld,\"wrong\":%ld,\"written\":%ld}\n", received, gaps, repeats, wrong, written);
  fflush(stdout);
  dds_delete(participant);
  return 0;
}
