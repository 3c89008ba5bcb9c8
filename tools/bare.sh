#!/bin/bash
# Runs a command as on a machine with only what the README names: tools/bare.sh COMMAND...
#
# The command sees a /usr without the files of any other package. Debian's records tell which
# packages a compiler, make and Python need and which ones every Debian has; only their files stay,
# and /usr/local, where Python may be. BARE_WITH="opensm" keeps these packages too, with what they
# depend on. What the command writes into /usr is gone afterwards. For root, as only root may mount.
set -euo pipefail

refuse() {
  echo "tools/bare.sh: $1" >&2
  exit 1
}

if [ "${1-}" = --inside ]; then
  scratch=$2
  shift 2
  mount -t tmpfs bare "$scratch"
  mkdir "$scratch/upper" "$scratch/work" "$scratch/usr"
  mount -t overlay bare "$scratch/usr" \
    -o "lowerdir=/usr,upperdir=$scratch/upper,workdir=$scratch/work" 2>/dev/null ||
    refuse "cannot hide programs: no overlay can be mounted over /usr here"
  # Within the overlay and relative to it, so that the machine's own /usr cannot be meant.
  (cd "$scratch/usr" && xargs --null rm -rf --) <&3
  mount --bind "$scratch/usr" /usr
  exec "$@" 3<&-
fi

[ $# -gt 0 ] || refuse "expected a command, such as tools/bare.sh make test"
[ "$(id -u)" = 0 ] || refuse "only root can hide programs: run it as root"
[ -L /bin ] && command -v apt-cache dpkg-query >/dev/null ||
  refuse "cannot hide programs: this is no Debian whose /bin is in /usr"
unshare --mount true 2>/dev/null ||
  refuse "cannot hide programs: no mount namespace can be made here"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
required=$(dpkg-query --show --showformat='${Package} ${Priority}\n' |
  awk '$2 == "required" { print $1 }')
# Of the packages named, those that are installed: Python may come from elsewhere. Then it needs those
# of the libraries that it loads.
named=$(dpkg-query --show --showformat='${Package}\n' \
  g++ make python3 python3-dev python3-venv ca-certificates ${BARE_WITH-} 2>/dev/null || true)
loaded=$("${PYTHON:-python3}" -c 'import glob, sys, sysconfig
print(sys.executable, *glob.glob(sysconfig.get_config_var("DESTSHARED") + "/*.so"))' |
  xargs ldd 2>/dev/null | awk '$2 == "=>" && $3 ~ "^/" { print "*/" $1 }' | sort -u |
  xargs dpkg-query --search 2>/dev/null | sed 's/:.*//' | sort -u || true)
apt-cache depends --recurse --installed --no-recommends --no-suggests --no-conflicts --no-breaks \
  --no-replaces --no-enhances $required $named $loaded | grep '^[a-z0-9]' | sort -u >"$scratch/packages"
# A package may be known and not be installed; /bin and its like are in /usr.
xargs dpkg-query --listfiles <"$scratch/packages" 2>/dev/null |
  sed -E 's,^/(bin|sbin|lib[0-9a-z]*)(/|$),/usr/\1\2,' >"$scratch/kept" || true
# A name such as /usr/bin/cc, which belongs to no package, stays with the program that it leads to.
find /usr -type l -lname '/etc/alternatives/*' | while read -r link; do
  printf '%s\t%s\n' "$(readlink -f "$link")" "$link"
done | awk -F '\t' 'NR == FNR { kept[$0]; next } $1 in kept { print $2 }' "$scratch/kept" - \
  >"$scratch/chosen"
# Everything else, of a folder only the folder itself.
find /usr -mindepth 1 -path /usr/local -prune -o -print | LC_ALL=C sort | awk '
  FILENAME != "-" { kept[$0]; next }
  outer != "" && index($0, outer) == 1 { next }
  !($0 in kept) { outer = $0 "/"; printf "%s%c", substr($0, 6), 0 }
' "$scratch/kept" "$scratch/chosen" - >"$scratch/hidden"
mkdir "$scratch/mount"
status=0
unshare --mount "$0" --inside "$scratch/mount" "$@" 3<"$scratch/hidden" || status=$?
exit "$status"
