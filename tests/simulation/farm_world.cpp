#include "tests/simulation/farm_world.h"

#include <algorithm>

namespace farm::simulation {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kStep{100};
constexpr seconds kTtl{15};
constexpr milliseconds kLongestDelay{2'000};

World::World(uint64_t seed, WorldOptions options) : rng_(seed), options_(options) {
  clock_.advance(seconds(1'000'000));
  devices_.resize(static_cast<size_t>(options.devices));
  clients_.resize(static_cast<size_t>(options.clients));
  for (size_t i = 0; i < devices_.size(); ++i) {
    devices_[i].id = "d" + std::to_string(i);
    devices_[i].key = "key" + std::to_string(i % static_cast<size_t>(options.keys));
    devices_[i].instance = next_instance_++;
  }
}

void World::run(int steps) {
  for (int i = 0; i < steps && breaches.empty(); ++i) step();
  faulty_ = false;
  for (int i = 0; i < 600 && breaches.empty(); ++i) step();
  std::vector<int> before;
  for (Client& client : clients_) before.push_back(std::exchange(client.served, 0));
  for (int i = 0; i < 300 && breaches.empty(); ++i) {
    step();
    check_peace();
  }
  for (size_t i = 0; i < clients_.size() && breaches.empty(); ++i) {
    if (clients_[i].served == 0) breach("client " + std::to_string(i) + " was not served in 30 s of peace");
  }
}

void World::step() {
  clock_.advance(kStep);
  if (faulty_ && rng_.chance(options_.fault_rate)) cause_fault();
  step_tracker();
  deliver_due();
  for (Device& device : devices_) step_device(device);
  for (Client& client : clients_) step_client(client);
  send_events();
  check();
}

void World::breach(const std::string& what) { breaches.push_back(what); }

// --- faults ----------------------------------------------------------------------------------------------------------

void World::cause_fault() {
  ++faults;
  Device& device = devices_[rng_.below(devices_.size())];
  Client& client = clients_[rng_.below(clients_.size())];
  auto a_while = milliseconds(100 + rng_.below(40'000));
  switch (rng_.below(7)) {
    case 0:
      restart_tracker();
      break;
    case 1:
      close_link(device.link);
      break;  // the connection breaks, the session does not
    case 2:   // the device's program is killed and started again
      close_link(device.link);
      device.fence = {};
      device.session = {};
      device.instance = next_instance_++;
      device.next_connect = clock_.now() + milliseconds(rng_.below(5'000));
      break;
    case 3:
      device.cut_off_until = clock_.now() + a_while;
      break;
    case 4:
      client.frozen_until = clock_.now() + a_while;
      break;
    case 5:  // the client is killed and started again
      close_link(client.link);
      drop_lease(client);
      client.waiting = false;
      client.next_action = clock_.now() + milliseconds(rng_.below(3'000));
      break;
    case 6:
      if (client.lease)
        to_tracker(client.link, [this, link = client.link, token = *client.lease](LeaseTable& table) {
          (void)table.report_bad(link, token, clock_.now());
        });
      break;
  }
}

void World::restart_tracker() {
  tracker_.reset();
  tracker_back_ = clock_.now() + milliseconds(rng_.below(20'000));
  open_links_.clear();
  for (Device& device : devices_) {
    device.link = 0;
    device.next_connect = tracker_back_ + milliseconds(rng_.below(5'000));
  }
  for (Client& client : clients_) {
    client.link = 0;
    client.waiting = false;
    client.next_action = std::max(client.next_action, tracker_back_ + milliseconds(rng_.below(5'000)));
  }
}

void World::close_link(PeerId& link) {
  PeerId closed = std::exchange(link, 0);
  if (!closed) return;
  post(last_up_, closed, [this, closed] {
    if (tracker_ && open_links_.erase(closed)) tracker_->peer_gone(closed, clock_.now());
  });
}

// --- mail ------------------------------------------------------------------------------------------------------------

void World::post(std::map<PeerId, Time>& last, PeerId link, std::function<void()> deliver) {
  auto delay = rng_.chance(0.05) ? milliseconds(rng_.below(static_cast<uint64_t>(kLongestDelay.count())))
                                 : milliseconds(rng_.below(5));
  Time at = std::max(clock_.now() + delay, last[link]);
  last[link] = at;
  mail_[{at, next_mail_++}] = std::move(deliver);
}

bool World::passes(PeerId link) const {
  auto at = std::ranges::find(devices_, link, &Device::link);
  return at == devices_.end() || at->cut_off_until <= clock_.now();
}

void World::to_tracker(PeerId link, std::function<void(LeaseTable&)> call) {
  if (!link || !passes(link)) return;
  post(last_up_, link, [this, link, call = std::move(call)] {
    if (tracker_ && open_links_.contains(link)) call(*tracker_);
  });
}

void World::to_device(PeerId link, std::function<void(Device&)> call) {
  if (!passes(link)) return;
  post(last_down_, link, [this, link, call = std::move(call)] {
    auto at = std::ranges::find(devices_, link, &Device::link);
    if (at != devices_.end()) call(*at);
  });
}

void World::to_client(PeerId link, std::function<void(Client&)> call) {
  post(last_down_, link, [this, link, call = std::move(call)] {
    auto at = std::ranges::find(clients_, link, &Client::link);
    if (at != clients_.end()) call(*at);
  });
}

void World::deliver_due() {
  while (!mail_.empty() && mail_.begin()->first.first <= clock_.now()) {
    auto deliver = std::move(mail_.begin()->second);
    mail_.erase(mail_.begin());
    deliver();
    send_events();
  }
}

void World::send_events() {
  if (!tracker_) return;
  for (const TableEvent& event : tracker_->take_events()) {
    std::visit([this](const auto& one) { send_event(one); }, event);
  }
}

void World::send_event(const GrantToDevice& event) {
  to_device(event.device, [this, event](Device& device) {
    if (device.fence.grant(event.token, event.holder, event.ttl, clock_.now())) device.session = {};
  });
}

void World::send_event(const ExtendAtDevice& event) {
  to_device(event.device, [this, event](Device& device) { device.fence.extend(event.epoch, event.ttl, clock_.now()); });
}

void World::send_event(const RevokeAtDevice& event) {
  to_device(event.device, [this, event](Device& device) {
    if (device.fence.revoke(event.epoch)) device.session = {};
    if (event.check_in)
      to_tracker(device.link, [this, link = device.link](LeaseTable& table) { table.check_in(link, clock_.now()); });
  });
}

void World::send_event(const GrantToClient& event) {
  ++grants;
  to_client(event.client, [this, event](Client& client) {
    if (!client.waiting || client.request != event.request) return;
    client.waiting = false;
    client.lease = event.grant.token;
    client.in_session = false;
    client.next_renew = clock_.now() + seconds(5);
    client.work_until = clock_.now() + seconds(3);  // gives up when the device knows nothing of it until then
    client.next_action = clock_.now();
  });
}

void World::send_event(const RefuseRequest& event) {
  to_client(event.client, [event](Client& client) {
    if (client.request == event.request) client.waiting = false;
  });
}

void World::send_event(const DropPeer& event) {
  // Once it hears that, the device connects again.
  open_links_.erase(event.peer);
  tracker_->peer_gone(event.peer, clock_.now());
  for (Device& device : devices_) {
    if (device.link != event.peer) continue;
    device.link = 0;
    device.next_connect = clock_.now() + milliseconds(rng_.below(5'000));
  }
}

// --- who does what ---------------------------------------------------------------------------------------------------

void World::step_tracker() {
  if (!tracker_ && clock_.now() >= tracker_back_) {
    LeaseTableOptions options;
    options.first_epoch = static_cast<uint64_t>(clock_.now().time_since_epoch() / milliseconds(1)) * 1000;
    tracker_ = std::make_unique<LeaseTable>(options, [this] { return next_secret_++ * 7919; });
  }
  if (tracker_) tracker_->tick(clock_.now());
}

void World::step_device(Device& device) {
  Time now = clock_.now();
  if (device.fence.expire(now)) device.session = {};
  if (!device.link) {
    if (!tracker_ || now < device.next_connect || device.cut_off_until > now) return;
    device.link = next_link_++;
    open_links_.insert(device.link);
    device.next_beat = now + seconds(5);
    DeviceReport report;
    report.id = device.id;
    report.key = device.key;
    report.instance = device.instance;
    report.address = {"127.0.0.1", 1};
    device.fence.describe(report, now);
    to_tracker(device.link, [this, link = device.link, report](LeaseTable& table) {
      if (table.register_device(link, report, clock_.now())) return;
      open_links_.erase(link);  // refused: it comes again later
      table.peer_gone(link, clock_.now());
      auto at = std::ranges::find(devices_, link, &Device::link);
      if (at == devices_.end()) return;
      at->link = 0;
      at->next_connect = clock_.now() + seconds(2);
    });
  } else if (now >= device.next_beat) {
    device.next_beat = now + seconds(5);
    to_tracker(device.link, [this, link = device.link](LeaseTable& table) { table.heartbeat(link, clock_.now()); });
  }
}

void World::step_client(Client& client) {
  Time now = clock_.now();
  if (client.frozen_until > now || client.next_action > now) return;
  if (!client.link) {
    if (!tracker_) return;
    client.link = next_link_++;
    open_links_.insert(client.link);
  }
  if (client.lease) return work(client);
  if (!client.waiting) ask(client);
}

void World::ask(Client& client) {
  client.waiting = true;
  client.asked = clock_.now();
  client.key = "key" + std::to_string(rng_.below(static_cast<uint64_t>(options_.keys)));
  LeaseWish wish{++client.request, client.key, "client",
                 static_cast<int>(rng_.below(static_cast<uint64_t>(options_.priorities))), seconds(10)};
  to_tracker(client.link,
             [this, link = client.link, wish](LeaseTable& table) { (void)table.request(link, wish, clock_.now()); });
}

void World::work(Client& client) {
  if (!client.in_session) open_session(client);
  if (!client.lease) return;
  if (clock_.now() >= client.work_until) {
    to_tracker(client.link, [this, link = client.link, token = *client.lease](LeaseTable& table) {
      (void)table.release(link, token, clock_.now());
    });
    if (client.in_session) ++client.served;
    drop_lease(client);
    client.next_action = clock_.now() + milliseconds(rng_.below(2'000));
  } else if (clock_.now() >= client.next_renew) {
    client.next_renew = clock_.now() + seconds(5);
    to_tracker(client.link, [this, link = client.link, token = *client.lease](LeaseTable& table) {
      answer_renewal(link, token, table.renew(link, token, clock_.now()).has_value());
    });
  }
}

void World::answer_renewal(PeerId link, const LeaseToken& token, bool renewed) {
  if (renewed) return;
  to_client(link, [this, token](Client& client) {
    if (client.lease == token) drop_lease(client);
  });
}

void World::drop_lease(Client& client) {
  client.lease.reset();
  client.in_session = false;
}

void World::open_session(Client& client) {
  auto device = std::ranges::find(devices_, client.lease->device_id, &Device::id);
  Admission admission = device->fence.admit(*client.lease, clock_.now());
  if (admission == Admission::NotYet) return;
  if (admission == Admission::Stale) {
    ++stale;
    return drop_lease(client);
  }
  ++sessions;
  client.in_session = true;
  client.work_until = clock_.now() + milliseconds(200 + rng_.below(2'000));
  if (client.lease->epoch < device->highest_session) {
    breach(device->id + " admitted epoch " + std::to_string(client.lease->epoch) + " after " +
           std::to_string(device->highest_session));
  }
  device->highest_session = client.lease->epoch;
  device->session = *client.lease;
}

// --- what must hold --------------------------------------------------------------------------------------------------

void World::check() {
  for (const Device& device : devices_) {
    if (device.session.epoch && device.session.epoch != device.fence.running_epoch())
      breach(device.id + " has a session without a lease");
    DeviceReport report;
    device.fence.describe(report, clock_.now());
    if (report.left > kTtl) breach(device.id + " holds a lease that ends too late");
  }
  if (!tracker_) return;
  for (const LeaseInfo& lease : tracker_->status(clock_.now()).leases) {
    if (lease.seconds_left <= 0 || lease.seconds_left > 15) breach("the lease of " + lease.device_id + " does not end");
  }
}

void World::check_peace() {
  for (const QueueInfo& queue : tracker_->status(clock_.now()).queue) {
    if (queue.waiting > 0 && queue.free > 0) breach("somebody waits for " + queue.key + " beside a free device");
    auto of_key = std::ranges::count(devices_, queue.key, &Device::key);
    if (queue.devices < of_key) breach("a device of " + queue.key + " did not come back");
  }
}

}  // namespace farm::simulation
