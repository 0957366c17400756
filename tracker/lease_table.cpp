#include "tracker/lease_table.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace farm {
namespace {

using std::chrono::milliseconds;

constexpr int kMaxPriority = 1000;
constexpr size_t kMaxListedKeys = 10;

}  // namespace

LeaseTable::LeaseTable(LeaseTableOptions options, std::function<uint64_t()> secret)
    : options_(options), secret_(std::move(secret)), next_epoch_(std::max<uint64_t>(options.first_epoch, 1)) {}

// --- devices ---------------------------------------------------------------------------------------------------------

Status LeaseTable::register_device(PeerId peer, const DeviceReport& report, Time now) {
  now_ = now;
  FARM_CHECK(check_report(peer, report, now));
  Device& device = devices_[report.id];
  if (device.peer && device.peer != peer) events_.emplace_back(DropPeer{device.peer});
  disconnect(device, now);
  device.report = report;
  device.bad = false;
  next_epoch_ = std::max(next_epoch_, report.epoch + 1);
  connect(device, peer, now);
  reconcile(device, report, now);
  if (!device.lease) make_free(device);
  return {};
}

Status LeaseTable::check_report(PeerId peer, const DeviceReport& report, Time now) const {
  FARM_CHECK(check_device_id("device id", report.id));
  FARM_CHECK(check_device_key("device key", report.key));
  FARM_CHECK(check_key_kind("device key", report.key, report.target));
  if (report.address.port == 0) return fail(ErrorCode::InvalidArgument, "device ", report.id, " has no port");
  if (report.epoch > UINT64_MAX / 2) return fail(ErrorCode::InvalidArgument, "epoch ", report.epoch, " cannot be");
  auto of_peer = peers_.find(peer);
  if (of_peer != peers_.end() && of_peer->second.device && of_peer->second.device->report.id != report.id) {
    return fail(ErrorCode::InvalidArgument, "one connection registers one device; this is ",
                of_peer->second.device->report.id);
  }
  auto known = devices_.find(report.id);
  if (known == devices_.end()) {
    if (devices_.size() < options_.max_devices) return {};
    return fail(ErrorCode::Unavailable, "the tracker holds ", options_.max_devices, " devices and takes no more");
  }
  const Device& device = known->second;
  bool alive = device.peer && device.peer != peer && now - device.last_seen < options_.lost_after;
  if (alive && device.report.instance != report.instance) {
    return fail(ErrorCode::Unavailable, "device id ", report.id,
                " is taken by another server; give this one another --id");
  }
  return {};
}

// The device holds the truth about its session, the table about what was granted since.
void LeaseTable::reconcile(Device& device, const DeviceReport& report, Time now) {
  if (device.lease && device.lease->until <= now) end_lease(device, true);
  if (device.lease && report.epoch < device.lease->token.epoch) {  // the grant did not reach it
    auto left = std::chrono::ceil<milliseconds>(device.lease->until - now);
    events_.emplace_back(GrantToDevice{device.peer, device.lease->token, left, device.lease->holder});
    return;
  }
  bool runs = report.left > milliseconds(0);
  if (device.lease && report.epoch == device.lease->token.epoch && runs) return;
  if (device.lease) end_lease(device, false);
  if (!runs) return;
  unfree(device);
  device.lease =
      Lease{{report.id, report.epoch, report.secret}, report.holder, 0, now + std::min(report.left, options_.ttl)};
}

void LeaseTable::connect(Device& device, PeerId peer, Time now) {
  device.peer = peer;
  device.last_seen = now;
  peers_[peer].device = &device;
  ++pools_[device.report.key].connected;
}

void LeaseTable::disconnect(Device& device, Time now) {
  if (!device.peer) return;
  unfree(device);
  peers_[device.peer].device = nullptr;
  device.peer = 0;
  std::string key = device.report.key;
  Pool& pool = pools_[key];
  if (--pool.connected == 0) pool.empty_since = now;
  forget_if_unused(key);
}

void LeaseTable::heartbeat(PeerId peer, Time now) {
  now_ = now;
  auto at = peers_.find(peer);
  if (at != peers_.end() && at->second.device) at->second.device->last_seen = now;
}

void LeaseTable::check_in(PeerId peer, Time now) {
  heartbeat(peer, now);
  auto at = peers_.find(peer);
  if (at == peers_.end() || !at->second.device || !at->second.device->bad) return;
  at->second.device->bad = false;
  if (!at->second.device->lease) make_free(*at->second.device);
}

void LeaseTable::unregister(PeerId peer, Time now) {
  now_ = now;
  auto at = peers_.find(peer);
  if (at == peers_.end() || !at->second.device) return;
  Device& device = *at->second.device;
  disconnect(device, now);
  if (device.lease) end_lease(device, false);
  devices_.erase(device.report.id);
}

void LeaseTable::make_free(Device& device) {
  if (!device.peer || device.bad || device.free_order) return;
  device.free_order = next_order_++;
  Pool& pool = pools_[device.report.key];
  pool.free[device.free_order] = &device;
  match(pool);
}

void LeaseTable::unfree(Device& device) {
  if (!device.free_order) return;
  pools_[device.report.key].free.erase(device.free_order);
  device.free_order = 0;
}

// --- requests --------------------------------------------------------------------------------------------------------

Status LeaseTable::request(PeerId client, const LeaseWish& wish, Time now) {
  now_ = now;
  FARM_CHECK(check_device_key("device key", wish.key));
  Peer& peer = peers_[client];
  if (peer.waiting.contains(wish.request)) {
    return fail(ErrorCode::InvalidArgument, "request ", wish.request, " waits already");
  }
  if (peer.waiting.size() >= options_.max_waiting_per_peer || waiting_ >= options_.max_waiting) {
    return fail(ErrorCode::Unavailable, "too many requests wait (", waiting_, "); try again later");
  }
  Pool& pool = pools_.try_emplace(wish.key, Pool{.empty_since = now}).first->second;
  QueueKey place{-std::clamp(wish.priority, -kMaxPriority, kMaxPriority), next_order_++};
  pool.queue[place] = Waiter{client, wish, now};
  peer.waiting[wish.request] = {wish.key, place};
  ++waiting_;
  match(pool);
  if (!peers_[client].waiting.contains(wish.request)) return {};
  if (pool.connected == 0 && wish.unknown_key_wait <= milliseconds(0)) {
    refuse_unknown_keys(now);
    return {};
  }
  int position = 1 + static_cast<int>(std::distance(pool.queue.begin(), pool.queue.find(place)));
  events_.emplace_back(TellPosition{client, wish.request, {position, pool.connected}});
  return {};
}

void LeaseTable::cancel(PeerId client, uint32_t request) {
  auto peer = peers_.find(client);
  if (peer == peers_.end()) return;
  auto at = peer->second.waiting.find(request);
  if (at == peer->second.waiting.end()) return;
  auto [key, place] = at->second;
  drop_waiter(key, place);
  forget_if_unused(key);
}

void LeaseTable::drop_waiter(const std::string& key, const QueueKey& place) {
  Pool& pool = pools_[key];
  const Waiter& waiter = pool.queue.at(place);
  peers_[waiter.client].waiting.erase(waiter.wish.request);
  pool.queue.erase(place);
  --waiting_;
}

void LeaseTable::match(Pool& pool) {
  while (!pool.free.empty() && !pool.queue.empty()) {
    Device& device = *pool.free.begin()->second;
    auto [place, waiter] = *pool.queue.begin();
    drop_waiter(waiter.wish.key, place);
    grant(device, waiter.client, waiter.wish);
  }
}

void LeaseTable::grant(Device& device, PeerId client, const LeaseWish& wish) {
  unfree(device);
  device.lease = Lease{{device.report.id, next_epoch_++, secret_()}, wish.holder, 0, now_ + options_.ttl};
  bind_lease(device, client);
  // The device hears of it first: a client that connects at once finds it prepared.
  events_.emplace_back(GrantToDevice{device.peer, device.lease->token, options_.ttl, wish.holder});
  events_.emplace_back(GrantToClient{client, wish.request, {device.lease->token, device.report.address, options_.ttl}});
}

// --- leases ----------------------------------------------------------------------------------------------------------

void LeaseTable::bind_lease(Device& device, PeerId client) {
  auto before = peers_.find(device.lease->client);
  if (before != peers_.end()) before->second.leases.erase(&device);
  device.lease->client = client;
  peers_[client].leases.insert(&device);
}

void LeaseTable::end_lease(Device& device, bool tell_device) {
  auto client = peers_.find(device.lease->client);
  if (client != peers_.end()) client->second.leases.erase(&device);
  if (tell_device && device.peer)
    events_.emplace_back(RevokeAtDevice{device.peer, device.lease->token.epoch, device.bad});
  device.lease.reset();
}

Result<LeaseTable::Device*> LeaseTable::leased_device(const LeaseToken& token, Time now) {
  now_ = now;
  auto at = devices_.find(token.device_id);
  if (at == devices_.end()) return fail(ErrorCode::Unavailable, "device ", printable(token.device_id), " is gone");
  Device& device = at->second;
  if (device.lease && device.lease->until <= now) {
    end_lease(device, true);
    make_free(device);
  }
  if (!device.lease || !(device.lease->token == token)) {
    return fail(ErrorCode::Unavailable, "the lease of ", token.device_id, " has ended (stale epoch ", token.epoch, ")");
  }
  return &device;
}

Status LeaseTable::renew(PeerId client, const LeaseToken& token, Time now) {
  FARM_TRY(Device * device, leased_device(token, now));
  device->lease->until = now + options_.ttl;
  bind_lease(*device, client);
  if (device->peer) events_.emplace_back(ExtendAtDevice{device->peer, token.epoch, options_.ttl});
  return {};
}

Status LeaseTable::release(PeerId, const LeaseToken& token, Time now) {
  FARM_TRY(Device * device, leased_device(token, now));
  end_lease(*device, true);
  make_free(*device);
  return {};
}

Status LeaseTable::report_bad(PeerId, const LeaseToken& token, Time now) {
  FARM_TRY(Device * device, leased_device(token, now));
  device->bad = true;
  end_lease(*device, true);
  return {};
}

void LeaseTable::peer_gone(PeerId peer, Time now) {
  now_ = now;
  auto at = peers_.find(peer);
  if (at == peers_.end()) return;
  while (!at->second.waiting.empty()) cancel(peer, at->second.waiting.begin()->first);
  if (at->second.device) disconnect(*at->second.device, now);
  std::vector<Device*> freed(at->second.leases.begin(), at->second.leases.end());
  peers_.erase(at);
  std::ranges::sort(freed, {}, [](const Device* device) { return device->report.id; });  // same order in every run
  for (Device* device : freed) {
    end_lease(*device, true);
    make_free(*device);
  }
}

// --- time ------------------------------------------------------------------------------------------------------------

void LeaseTable::tick(Time now) {
  now_ = now;
  for (auto& [id, device] : devices_) tick_device(device, now);
  std::erase_if(devices_, [&](const auto& entry) {
    const Device& device = entry.second;
    return !device.peer && !device.lease && now - device.last_seen >= options_.forget_after;
  });
  refuse_unknown_keys(now);
  if (now - positions_told_ >= options_.position_every) tell_positions(now);
}

void LeaseTable::tick_device(Device& device, Time now) {
  bool silent = now - device.last_seen >= options_.lost_after;
  if (silent && device.peer) {
    events_.emplace_back(DropPeer{device.peer});
    disconnect(device, now);
  }
  if (!device.lease || (!silent && device.lease->until > now)) return;
  end_lease(device, true);
  make_free(device);
}

void LeaseTable::refuse_unknown_keys(Time now) {
  std::vector<std::pair<std::string, QueueKey>> refused;
  for (const auto& [key, pool] : pools_) {
    if (pool.connected > 0) continue;
    for (const auto& [place, waiter] : pool.queue) {
      if (now - std::max(waiter.since, pool.empty_since) < waiter.wish.unknown_key_wait) continue;
      events_.emplace_back(RefuseRequest{waiter.client, waiter.wish.request, unknown_key(key)});
      refused.emplace_back(key, place);
    }
  }
  for (const auto& [key, place] : refused) {
    drop_waiter(key, place);
    forget_if_unused(key);
  }
}

Error LeaseTable::unknown_key(const std::string& key) const {
  std::vector<std::string> keys;
  for (const auto& [name, pool] : pools_) {
    if (pool.connected > 0) keys.push_back(name);
  }
  std::string message = "no device is registered under '" + printable(key) + "'" + did_you_mean(key, keys);
  size_t more = keys.size() > kMaxListedKeys ? keys.size() - kMaxListedKeys : 0;
  keys.resize(keys.size() - more);
  message += keys.empty() ? "; the tracker has no device at all" : "; registered: " + join(keys, ", ");
  if (more) message += " and " + std::to_string(more) + " more";
  return {ErrorCode::NotFound, message};
}

void LeaseTable::tell_positions(Time now) {
  positions_told_ = now;
  for (const auto& [key, pool] : pools_) {
    int position = 0;
    for (const auto& [place, waiter] : pool.queue) {
      events_.emplace_back(TellPosition{waiter.client, waiter.wish.request, {++position, pool.connected}});
    }
  }
}

void LeaseTable::forget_if_unused(const std::string& key) {
  auto at = pools_.find(key);
  if (at != pools_.end() && at->second.connected == 0 && at->second.queue.empty()) pools_.erase(at);
}

// --- what happened, what is ------------------------------------------------------------------------------------------

std::vector<TableEvent> LeaseTable::take_events() { return std::exchange(events_, {}); }

TrackerStatus LeaseTable::status(Time now) const {
  TrackerStatus status;
  std::map<std::string, QueueInfo> queues;
  for (const auto& [id, device] : devices_) {
    std::string state = !device.peer ? "lost" : device.bad ? "set aside" : device.lease ? "leased" : "free";
    std::string holder = device.lease ? device.lease->holder : "";
    status.devices.push_back({id, device.report.key, device.report.target, device.report.address, state, holder});
    QueueInfo& queue = queues[device.report.key];
    queue.devices += device.peer ? 1 : 0;
    queue.free += state == "free" ? 1 : 0;
    if (!device.lease) continue;
    double left = std::max(0.0, std::chrono::duration<double>(device.lease->until - now).count());
    status.leases.push_back({id, device.report.key, holder, device.lease->token.epoch, left});
  }
  for (const auto& [key, pool] : pools_) queues[key].waiting = static_cast<int>(pool.queue.size());
  for (auto& [key, queue] : queues) {
    queue.key = key;
    status.queue.push_back(queue);
  }
  return status;
}

}  // namespace farm
