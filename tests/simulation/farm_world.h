// A farm in virtual time: the real lease table and the devices' real fences, and around them clients, messages that
// take their time, and faults, all out of one seed.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/rng.h"
#include "rpc_server/lease_fence.h"
#include "tracker/tracker.h"

namespace farm::simulation {

struct WorldOptions {
  int devices = 4, clients = 6, keys = 2;
  int priorities = 2;        ///< of requests; a low one may wait for ever in a crowd, as it should
  double fault_rate = 0.02;  ///< chance of a fault a step
};

class World {
 public:
  World(uint64_t seed, WorldOptions options);
  /// So many steps of 100 ms with faults; then 90 s of peace, in the last 30 of which nobody may wait beside a free
  /// device and everybody must have been served.
  void run(int steps);

  std::vector<std::string> breaches;  ///< of what must always hold; a run ends at the first
  int grants = 0, sessions = 0, stale = 0, faults = 0;

 private:
  using Time = Clock::time_point;
  // A link is one connection to the tracker, 0 is none; what was sent over one that is gone is lost.
  struct Device {
    std::string id, key;
    LeaseFence fence;
    PeerId link = 0;
    uint64_t instance = 0;
    Time cut_off_until;  ///< nothing passes in either direction, and nobody is told
    Time next_beat, next_connect;
    LeaseToken session{};  ///< epoch 0: none
    uint64_t highest_session = 0;
  };
  struct Client {
    PeerId link = 0;
    Time frozen_until, next_action;
    uint32_t request = 0;
    bool waiting = false;
    std::string key;
    Time asked;
    std::optional<LeaseToken> lease;
    bool in_session = false;
    Time next_renew, work_until;
    int served = 0;
  };

  void step();
  void cause_fault();
  void restart_tracker();
  void step_tracker();
  void step_device(Device& device);
  void step_client(Client& client);
  void ask(Client& client);
  void work(Client& client);
  void open_session(Client& client);
  void drop_lease(Client& client);
  void close_link(PeerId& link);
  void check();
  void check_peace();
  void breach(const std::string& what);

  // Mail. Each direction of a link keeps its order.
  void post(std::map<PeerId, Time>& last, PeerId link, std::function<void()> deliver);
  void to_tracker(PeerId link, std::function<void(LeaseTable&)> call);
  void to_device(PeerId link, std::function<void(Device&)> call);
  void to_client(PeerId link, std::function<void(Client&)> call);
  void deliver_due();
  bool passes(PeerId link) const;
  void send_events();
  void send_event(const GrantToDevice& event);
  void send_event(const ExtendAtDevice& event);
  void send_event(const RevokeAtDevice& event);
  void send_event(const GrantToClient& event);
  void send_event(const RefuseRequest& event);
  void send_event(const TellPosition&) {}
  void send_event(const DropPeer& event);
  void answer_renewal(PeerId link, const LeaseToken& token, bool renewed);

  Rng rng_;
  VirtualClock clock_;
  WorldOptions options_;
  std::unique_ptr<LeaseTable> tracker_;  ///< null while it is down
  Time tracker_back_;
  PeerId next_link_ = 1;
  uint64_t next_secret_ = 1, next_instance_ = 1, next_mail_ = 1;
  std::set<PeerId> open_links_;  ///< at the tracker that runs
  std::vector<Device> devices_;
  std::vector<Client> clients_;
  std::map<std::pair<Time, uint64_t>, std::function<void()>> mail_;
  std::map<PeerId, Time> last_up_, last_down_;
  bool faulty_ = true;
};

}  // namespace farm::simulation
