// What a statically linked program does otherwise than one that the system's loader starts; only in boards' builds.
#include <nss.h>
#include <unistd.h>

#include <cstdlib>

// The library's own handler prints the exception's type, for which it brings 45 KB that read mangled names.
namespace __gnu_cxx {
void __verbose_terminate_handler() {
  constexpr char kMessage[] = "ended by an exception that nobody caught\n";
  (void)!write(2, kMessage, sizeof kMessage - 1);
  std::abort();
}
}  // namespace __gnu_cxx

// Host names come from /etc/hosts and DNS, for which the program holds the code. Whatever else the system's
// nsswitch.conf names would be loaded from its libraries, which are made for another version of libc.
[[gnu::constructor]] static void look_up_hosts_without_plugins() { __nss_configure_lookup("hosts", "files dns"); }
