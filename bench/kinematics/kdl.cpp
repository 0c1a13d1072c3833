// The peer of the kinematics bench: Orocos KDL on the targets and seeds of a file. Prints one JSON line.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <kdl/chain.hpp>
#include <kdl/chainfksolverpos_recursive.hpp>
#include <kdl/chainiksolverpos_lma.hpp>
#include <kdl/chainiksolverpos_nr_jl.hpp>
#include <kdl/chainiksolvervel_pinv.hpp>
#include <kdl/config.h>

namespace {

constexpr double kRight = 1e-4;
constexpr int kTurns = 5;

struct Task {
  KDL::Chain chain;
  KDL::JntArray min, max;
  std::vector<KDL::JntArray> joints, seeds;
  std::vector<KDL::Frame> poses;
};

KDL::Frame withZ(const KDL::Vector& axis, const KDL::Vector& point) {
  const KDL::Vector aside = std::fabs(axis.x()) < 0.9 ? KDL::Vector(1, 0, 0) : KDL::Vector(0, 1, 0);
  KDL::Vector y = axis * aside;
  y.Normalize();
  return KDL::Frame(KDL::Rotation(y * axis, y, axis), point);
}

KDL::JntArray readJoints(std::istream& in, int n) {
  KDL::JntArray q(n);
  for (int j = 0; j < n; ++j) in >> q(j);
  return q;
}

Task readTask(const char* path) {
  std::ifstream in(path);
  int n = 0, count = 0;
  in >> n >> count;
  Task task;
  task.min.resize(n);
  task.max.resize(n);
  KDL::Frame last = KDL::Frame::Identity();
  std::vector<KDL::Frame> frames;
  for (int j = 0; j < n; ++j) {
    double v[6];
    for (double& each : v) in >> each;
    in >> task.min(j) >> task.max(j);
    frames.push_back(withZ(KDL::Vector(v[0], v[1], v[2]), KDL::Vector(v[3], v[4], v[5])));
  }
  double t[12];
  for (double& each : t) in >> each;
  frames.push_back(KDL::Frame(KDL::Rotation(t[0], t[1], t[2], t[4], t[5], t[6], t[8], t[9], t[10]),
                              KDL::Vector(t[3], t[7], t[11])));
  task.chain.addSegment(KDL::Segment(KDL::Joint(KDL::Joint::None), frames[0]));
  for (int j = 0; j < n; ++j)
    task.chain.addSegment(KDL::Segment(KDL::Joint(KDL::Joint::RotZ), frames[j].Inverse() * frames[j + 1]));
  for (int i = 0; i < count; ++i) {
    task.joints.push_back(readJoints(in, n));
    double p[3], q[4];
    for (double& each : p) in >> each;
    for (double& each : q) in >> each;
    task.poses.push_back(
        KDL::Frame(KDL::Rotation::Quaternion(q[0], q[1], q[2], q[3]), KDL::Vector(p[0], p[1], p[2])));
    task.seeds.push_back(readJoints(in, n));
  }
  return task;
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double cpuNow() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Rates as medians of the turns, by wall clock and by processor time; percentiles of single calls.
std::string timed(const char* name, int count, const std::function<void(int)>& run, double rightPercent) {
  std::vector<double> rates, cpuRates;
  for (int turn = 0; turn <= kTurns; ++turn) {
    const double start = now(), cpuStart = cpuNow();
    for (int i = 0; i < count; ++i) run(i);
    if (turn == 0) continue;
    rates.push_back(count / (now() - start));
    cpuRates.push_back(count / (cpuNow() - cpuStart));
  }
  std::vector<double> took;
  for (int i = 0; i < count; ++i) {
    const double start = now();
    run(i);
    took.push_back((now() - start) * 1e6);
  }
  std::sort(rates.begin(), rates.end());
  std::sort(cpuRates.begin(), cpuRates.end());
  std::sort(took.begin(), took.end());
  const auto at = [&](double q) { return took[std::max(0, static_cast<int>(std::ceil(q * count)) - 1)]; };
  char text[400];
  char right[32] = "null";
  if (rightPercent >= 0) std::snprintf(right, sizeof right, "%.3f", rightPercent);
  std::snprintf(text, sizeof text,
                "{\"name\":\"%s\",\"perS\":%.1f,\"perCpuS\":%.1f,\"callUs\":{\"p50\":%.3f,\"p95\":%.3f,\"p99\":%.3f,\"max\":%.3f},"
                "\"rightPercent\":%s}",
                name, rates[rates.size() / 2], cpuRates[cpuRates.size() / 2], at(0.5), at(0.95), at(0.99), took.back(), right);
  return text;
}

double rightPercent(const Task& task, KDL::ChainFkSolverPos& forward, KDL::ChainIkSolverPos& solver,
                    bool withLimits) {
  const int count = static_cast<int>(task.poses.size());
  int right = 0;
  KDL::JntArray out(task.chain.getNrOfJoints());
  for (int i = 0; i < count; ++i) {
    solver.CartToJnt(task.seeds[i], task.poses[i], out);
    KDL::Frame at;
    forward.JntToCart(out, at);
    const KDL::Twist off = KDL::diff(at, task.poses[i]);
    bool within = off.vel.Norm() < kRight && off.rot.Norm() < kRight;
    for (unsigned j = 0; withLimits && j < out.rows(); ++j)
      within = within && out(j) >= task.min(j) - 1e-9 && out(j) <= task.max(j) + 1e-9;
    right += within;
  }
  return 100.0 * right / count;
}

}  // namespace

int main(int, char** argv) {
  const Task task = readTask(argv[1]);
  const int count = static_cast<int>(task.poses.size());
  KDL::ChainFkSolverPos_recursive forward(task.chain);
  Eigen::Matrix<double, 6, 1> weights = Eigen::Matrix<double, 6, 1>::Ones();
  KDL::ChainIkSolverPos_LMA lma(task.chain, weights, 1e-5, 100);
  KDL::ChainIkSolverVel_pinv velocity(task.chain);
  KDL::ChainIkSolverPos_NR_JL newton(task.chain, task.min, task.max, forward, velocity, 100, 1e-6);
  KDL::JntArray out(task.chain.getNrOfJoints());
  KDL::Frame frame;
  const auto solve = [&](KDL::ChainIkSolverPos& solver) {
    return [&](int i) { solver.CartToJnt(task.seeds[i], task.poses[i], out); };
  };
  const std::string a = timed("LMA (no limits)", count, solve(lma), rightPercent(task, forward, lma, false));
  const std::string b = timed("NR_JL (limits)", count, solve(newton), rightPercent(task, forward, newton, true));
  const std::string c =
      timed("forward", count, [&](int i) { forward.JntToCart(task.joints[i], frame); }, -1);
  std::printf("{\"version\":\"%s\",\"timings\":[%s,%s,%s]}\n", KDL_VERSION_STRING, a.c_str(), b.c_str(), c.c_str());
  return 0;
}
