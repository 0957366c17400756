#!/usr/bin/env bash
# The launcher against a small fake tree: dpkg-query, apt-get, cmake, ninja and the programs are scripts that note how
# they were called. Prints one line a failed check; exit code 1 when there was one.
#
#   launcher_test.sh PATH-OF-FARM
set -uo pipefail

farm=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree="$work/a tree"  # the blank is part of the test
failures=0

check() {  # check WHAT COMMAND...
  local what=$1
  shift
  if ! "$@"; then
    echo "failed: $what"
    sed 's/^/    out: /' "$work/out"
    sed 's/^/    err: /' "$work/err"
    failures=$((failures + 1))
  fi
}
run() { (cd "$work" && PATH=$work/bin:$PATH "$tree/farm" "$@") >"$work/out" 2>"$work/err" </dev/null; code=$?; }
exits() { [[ $code == "$1" ]]; }
out_is() { [[ $(<"$work/out") == "$1" ]]; }
err_has() { grep -qF -- "$1" "$work/err"; }
err_is() { [[ $(<"$work/err") == "$1" ]]; }
calls() { grep -c "^$1" "$work/calls" || true; }
calls_are() { [[ $(calls "$1") == "$2" ]]; }
called() { grep -qF -- "$1" "$work/calls"; }

fake() {  # fake NAME: a program whose body is standard input
  { echo '#!/usr/bin/env bash'; cat; } >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}

mkdir -p "$tree/room" "$tree/cmake" "$tree/benchmarks" "$work/bin"
cp "$farm" "$tree/farm"
echo 'project(tunefarm VERSION 1.2.3 LANGUAGES CXX)' >"$tree/CMakeLists.txt"
echo '{}' >"$tree/CMakePresets.json"
touch "$tree/room/CMakeLists.txt" "$tree/room/a.cpp" "$work/calls"
echo '// how fast it is' >"$tree/benchmarks/one_thing.cpp"
export WORK=$work TREE=$tree

fake dpkg-query <<'EOT'
for name in $(cat "$WORK/installed"); do echo "$name installed"; done
EOT
fake apt-get <<'EOT'
echo "apt-get $*" >>"$WORK/calls"
[[ $1 == install ]] && cp "$WORK/all" "$WORK/installed"
exit 0
EOT
fake cmake <<'EOT'
echo "cmake $*" >>"$WORK/calls"
build=$TREE/build/$2  # cmake --preset NAME
mkdir -p "$build"
echo "CMAKE_HOME_DIRECTORY:INTERNAL=$TREE" >"$build/CMakeCache.txt"
touch "$build/build.ninja"
EOT
fake ninja <<'EOT'
echo "ninja $*" >>"$WORK/calls"
if grep -q broken "$TREE/room/a.cpp"; then echo "a.cpp:1: error: it is broken"; exit 1; fi
if [[ $2 != *release ]]; then mkdir -p "$2/bin"; echo static >"$2/bin/rpc_server"; exit; fi  # ninja -C FOLDER TARGET
mkdir -p "$TREE/build/release/bin"
printf '#!/bin/sh\necho "$(basename "$0") $* in $(pwd)"\necho "$TUNEFARM_LAUNCHER" >"$WORK/launcher"\nexit 7\n' >"$TREE/build/release/bin/tune"
chmod +x "$TREE/build/release/bin/tune"
cp "$TREE/build/release/bin/tune" "$TREE/build/release/bin/bench_one_thing"
cp "$TREE/build/release/bin/tune" "$TREE/build/release/bin/rpc_server"
EOT
fake id <<'EOT'
cat "$WORK/uid"
EOT
fake sudo <<'EOT'
echo "sudo $*" >>"$WORK/calls"
exec env "$@"
EOT
echo 0 >"$work/uid"
sed -n '/^packages=(/,/)/p' "$tree/farm" | sed 's/packages=(//; s/)//' | tr ' ' '\n' | grep . >"$work/all"
grep -v catch2 "$work/all" >"$work/installed"

# Words
run --version
check "the version is the project's" out_is "tunefarm 1.2.3"
run
check "no command is wrong usage" exits 2
run --help
check "help is no mistake" exits 0
run tun
check "a mistyped command exits 2" exits 2
check "a mistyped command finds its neighbours" err_is \
  'farm: unknown command "tun" (did you mean tune, tuning_db?); ./farm --help lists them'
run zzz
check "nonsense finds none" err_is 'farm: unknown command "zzz"; ./farm --help lists them'
run bench --list
check "benchmarks say what they measure" out_is "one-thing          how fast it is"
run bench one-thin
check "a mistyped benchmark finds its neighbour" err_has '(did you mean one-thing?)'

# Packages
run tune --no-install
check "missing packages end it when it may not install" exits 3
check "missing packages are named" err_is "farm: missing packages: catch2"
check "nothing was installed" calls_are apt-get 0
echo 1000 >"$work/uid"
mv "$work/bin/sudo" "$work/sudo"
if ! command -v sudo >/dev/null; then
  run tune
  check "neither root nor sudo ends it" exits 3
  check "neither root nor sudo says what to do" err_has "as root: apt-get update && apt-get install"
fi
mv "$work/sudo" "$work/bin/sudo"
run tune --task x "two words"
check "sudo installs" called "sudo DEBIAN_FRONTEND=noninteractive apt-get install"
check "lists are refreshed first" called "apt-get update"
check "only what is missing is installed, nothing removed" called "--no-remove -o DPkg::Lock::Timeout=300 catch2"
echo 0 >"$work/uid"

# Building and running
check "the program's exit code comes through" exits 7
check "the program runs in the caller's folder with its arguments" out_is "tune --task x two words in $work"
check "it was configured once" calls_are cmake 1
check "it was built once" calls_are ninja 1
launcher_is() { [[ $(<"$work/launcher") == "$1" ]]; }
check "the program is told how the launcher was called" launcher_is "$tree/farm"
(cd "$tree" && PATH=$work/bin:$PATH ./farm tune) >/dev/null 2>&1
check "the program is told so in the checkout" launcher_is ./farm
(cd "$tree" && PATH=$work/bin:$PATH bash farm tune) >/dev/null 2>&1
check "a name alone would not be found again" launcher_is "$tree/farm"
run tune
check "nothing changed: nothing is built" calls_are ninja 1
sleep 0.02
touch "$tree/room/a.cpp"
run tune
check "a changed source builds" calls_are ninja 2
check "a changed source does not configure" calls_are cmake 1
rm "$tree/build/release/bin/tune"
run tune
check "a lost program builds" calls_are ninja 3
sleep 0.02
echo broken >"$tree/room/a.cpp"
run tune
check "a broken build exits 3" exits 3
check "a broken build shows its first error" err_has "a.cpp:1: error: it is broken"
check "a broken build names its log" err_has "$tree/build/build-tune.log"
check "a broken build prints nothing for scripts" out_is ""
run tune
check "a broken build is tried again" exits 3
echo fine >"$tree/room/a.cpp"
run bench one-thing --json
check "a benchmark is built and run" out_is "bench_one_thing --json in $work"

# Others that build, and trees that cannot be built in
exec 9>"$tree/build/release.lock"
flock 9
sed -i /catch2/d "$work/installed"
rm "$tree/build/packages-product.ok"
touch "$tree/room/a.cpp"
run build --no-install
check "missing packages are named while another build goes on" err_is "farm: missing packages: catch2"
echo catch2 >>"$work/installed"
touch "$tree/build/release/stamps/tune"
run tune --no-install
check "a program that is ready runs while another build goes on" exits 7
check "nobody waits for what is not needed" err_is ""
exec 9>&-
mv "$tree/build" "$work/built"
echo "no folder" >"$tree/build"
run tune
check "a tree that cannot be built in exits 3" exits 3
check "a tree that cannot be built in says so in one line" err_is "farm: cannot write into $tree/build, where programs \
are built; use a checkout of your own, or make that folder yours"
run --no-install
check "packages can be named there all the same" err_is "farm: every package is there"
rm "$tree/build"
mv "$work/built" "$tree/build"

# Boards
run build --target mips
check "an unknown kind of board exits 2" exits 2
check "an unknown kind of board is told what is possible" err_is \
  'farm: no target "mips"; possible are aarch64, armv7, riscv64, x86-64'
run build --target arm7
check "a mistyped one finds its neighbour" err_has '(did you mean armv7?)'
run build --target
check "no kind of board is told what is possible" err_is \
  'farm: --target needs a value; possible are aarch64, armv7, riscv64, x86-64'
check "no kind of board exits 2" exits 2
run build --target aarch64 --no-install
check "a missing cross compiler is named" err_is "farm: missing packages: g++-aarch64-linux-gnu"
check "a missing cross compiler ends it when it may not install" exits 3
echo g++-aarch64-linux-gnu >>"$work/all"
run build --target aarch64
check "a board's program is built" exits 0
check "only the cross compiler is installed" called "DPkg::Lock::Timeout=300 g++-aarch64-linux-gnu"
check "a board's build is configured by its preset" called "cmake --preset aarch64"
check "a board's build is one program in a folder of its own" called "ninja -C $tree/build/aarch64 rpc_server"
check "a board's program lies in dist" test -x "$tree/dist/aarch64/rpc_server"
check "a script reads its path and size" out_is "$tree/dist/aarch64/rpc_server  0.00 MB (7 bytes)"
check "the product's own build is left alone" calls_are "cmake --preset release" 1
run build --target=armv7 rpc_server
check "a target's name is all that is wanted" err_is 'farm: unexpected argument "rpc_server" after --target armv7'

run rpc_server --emulate rk3399 --no-install
check "a board that is to be emulated needs an emulator" err_is "farm: missing packages: qemu-user-static"
echo qemu-user-static >>"$work/all"
run rpc_server --emulate=rk3399
check "the emulator is installed" called "DPkg::Lock::Timeout=300 qemu-user-static"
check "the program that emulates runs" out_is "rpc_server --emulate=rk3399 in $work"
before=$(calls "apt-get install")
run rpc_server --key local
check "a device of this machine needs none" calls_are "apt-get install" "$before"

# Boost
sed -i 's/^libboost-dev$/libboost1.81-dev/' "$work/installed"
rm "$tree/build/packages-product.ok"
run --no-install
check "another Boost that is new enough will do" exits 0
sed -i 's/^libboost1.81-dev$/libboost1.71-dev/' "$work/installed"
rm "$tree/build/packages-product.ok"
run --no-install
check "one that is too old will not" err_is "farm: missing packages: libboost-dev"

# A checkout that was moved
cp "$work/all" "$work/installed"
mv "$tree" "$work/elsewhere"
tree=$work/elsewhere TREE=$work/elsewhere
echo changed >"$tree/room/a.cpp"
before=$(calls cmake)
run tune
check "a moved checkout is configured anew" calls_are cmake $((before + 1))
check "a moved checkout runs" exits 7

if ((failures)); then exit 1; fi
echo "launcher: every check passed"
