// peer.c on Fast DDS, the default of ROS 2. Messages are written and read byte by byte.
// fast-peer DOMAIN TOPIC_PREFIX reliable|best-effort HZ SECONDS JOINTS
#include <csignal>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>

using namespace eprosima::fastdds::dds;
using Bytes = std::vector<uint8_t>;
using Payload = eprosima::fastrtps::rtps::SerializedPayload_t;

/** A type known only by name. */
struct RawType : TopicDataType {
  explicit RawType(const char *name) { setName(name); m_typeSize = 65000; m_isGetKeyDefined = false; }
  bool serialize(void *data, Payload *out) override {
    const Bytes &bytes = *static_cast<Bytes *>(data);
    if (bytes.size() > out->max_size) return false;
    std::memcpy(out->data, bytes.data(), bytes.size());
    out->length = static_cast<uint32_t>(bytes.size());
    out->encapsulation = CDR_LE;
    return true;
  }
  bool deserialize(Payload *in, void *data) override {
    static_cast<Bytes *>(data)->assign(in->data, in->data + in->length);
    return true;
  }
  std::function<uint32_t()> getSerializedSizeProvider(void *data) override {
    return [data] { return static_cast<uint32_t>(static_cast<Bytes *>(data)->size()); };
  }
  void *createData() override { return new Bytes; }
  void deleteData(void *data) override { delete static_cast<Bytes *>(data); }
  bool getKey(void *, eprosima::fastrtps::rtps::InstanceHandle_t *, bool) override { return false; }
};

struct Cdr {
  Bytes bytes{0, 1, 0, 0};
  void align(size_t to) { while ((bytes.size() - 4) % to != 0) bytes.push_back(0); }
  template <typename T> void put(T value) {
    align(sizeof(T));
    const auto *at = reinterpret_cast<const uint8_t *>(&value);
    bytes.insert(bytes.end(), at, at + sizeof(T));
  }
  void text(const std::string &value) {
    put<uint32_t>(static_cast<uint32_t>(value.size() + 1));
    bytes.insert(bytes.end(), value.begin(), value.end());
    bytes.push_back(0);
  }
};

static Bytes state(long number, int joints) {
  Cdr out;
  out.put<int32_t>(0);
  out.put<uint32_t>(0);
  out.text("");
  out.put<uint32_t>(static_cast<uint32_t>(joints));
  for (int i = 0; i < joints; i++) out.text("joint_" + std::to_string(i));
  for (int list = 0; list < 2; list++) {
    out.put<uint32_t>(static_cast<uint32_t>(joints));
    for (int i = 0; i < joints; i++) out.put<double>(list == 0 && i == 0 ? static_cast<double>(number) : 0.5);
  }
  out.put<uint32_t>(0);
  return out.bytes;
}

static volatile std::sig_atomic_t ended = 0;
static long received = 0, gaps = 0, repeats = 0, wrong = 0, written = 0;
static double last = -1;

static void take(DataReader *reader, int joints) {
  Bytes bytes;
  SampleInfo info;
  while (reader->take_next_sample(&bytes, &info) == ReturnCode_t::RETCODE_OK) {
    if (!info.valid_data) continue;
    std::vector<double> data(static_cast<size_t>(joints));
    if (bytes.size() < 20 + data.size() * 8) { wrong++; continue; }
    std::memcpy(data.data(), bytes.data() + 20, data.size() * 8);
    if (data.back() != -data.front()) wrong++;
    if (last >= 0 && data[0] > last + 1) gaps += static_cast<long>(data[0] - last - 1);
    if (last >= 0 && data[0] <= last) repeats++;
    last = data[0];
    received++;
  }
}

static void report(const char *head) {
  std::printf("{%s\"received\":%ld,\"gaps\":%ld,\"repeats\":%ld,\"wrong\":%ld,\"written\":%ld}\n", head, received, gaps, repeats, wrong, written);
  std::fflush(stdout);
}

int main(int argc, char **argv) {
  if (argc != 7) return 2;
  const std::string prefix = std::string("rt/") + argv[2];
  const bool reliable = std::string(argv[3]) == "reliable";
  const double hz = std::atof(argv[4]), seconds = std::atof(argv[5]);
  const int joints = std::atoi(argv[6]);
  std::signal(SIGTERM, [](int) { ended = 1; });

  DomainParticipantQos participant_qos;
  auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
  udp->interfaceWhiteList.push_back("127.0.0.1");
  participant_qos.transport().use_builtin_transports = false;
  participant_qos.transport().user_transports.push_back(udp);
  auto *participant = DomainParticipantFactory::get_instance()->create_participant(
      static_cast<DomainId_t>(std::atoi(argv[1])), participant_qos);
  if (participant == nullptr) return 1;
  TypeSupport command_type(new RawType("std_msgs::msg::dds_::Float64MultiArray_"));
  TypeSupport state_type(new RawType("sensor_msgs::msg::dds_::JointState_"));
  command_type.register_type(participant);
  state_type.register_type(participant);
  auto *commands = participant->create_topic(prefix + "/command", command_type.get_type_name(), TOPIC_QOS_DEFAULT);
  auto *states = participant->create_topic(prefix + "/joint_states", state_type.get_type_name(), TOPIC_QOS_DEFAULT);
  const auto kind = reliable ? RELIABLE_RELIABILITY_QOS : BEST_EFFORT_RELIABILITY_QOS;
  DataReaderQos reader_qos;
  reader_qos.reliability().kind = kind;
  reader_qos.history().depth = 100;
  DataWriterQos writer_qos;
  writer_qos.reliability().kind = kind;
  writer_qos.history().depth = 100;
  writer_qos.durability().kind = VOLATILE_DURABILITY_QOS;
  writer_qos.endpoint().history_memory_policy = eprosima::fastrtps::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
  reader_qos.endpoint().history_memory_policy = eprosima::fastrtps::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
  auto *reader = participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT)->create_datareader(commands, reader_qos);
  auto *writer = participant->create_publisher(PUBLISHER_QOS_DEFAULT)->create_datawriter(states, writer_qos);
  if (reader == nullptr || writer == nullptr) return 1;

  report("\"ready\":true,");
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  double reported = 0;
  for (double now = 0; ended == 0 && now < seconds; now = std::chrono::duration<double>(Clock::now() - start).count()) {
    if (now >= static_cast<double>(written) / hz) {
      Bytes bytes = state(written++, joints);
      if (!writer->write(&bytes)) wrong++;
    }
    take(reader, joints);
    if (now - reported > 0.2) { reported = now; report(""); }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  take(reader, joints);
  report("\"end\":true,");
  participant->delete_contained_entities();
  DomainParticipantFactory::get_instance()->delete_participant(participant);
  return 0;
}
