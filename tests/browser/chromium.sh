#!/bin/sh
# Print the path of a Chromium that can show Chinese, installing one where there is none.
#
# Taken in this order: an installed one; apt as root; else, as another user, Debian's packages
# unpacked into .cache/chromium, with a wrapper that finds their libraries and fonts.
set -eu

packages="chromium fonts-noto-cjk"
cache="$(cd "$(dirname "$0")/../.." && pwd)/.cache/chromium"

fail() {
    echo "The browser tests need Chromium and a Chinese font: install the packages $packages." >&2
    exit 1
}

has_chinese_font() { fc-list :lang=zh 2>/dev/null | grep -q .; }

installed() {
    [ -n "${MEMCENTER_CHROMIUM:-}" ] && echo "$MEMCENTER_CHROMIUM" && return
    has_chinese_font || return 1
    for name in chromium chromium-browser google-chrome-stable google-chrome; do
        command -v "$name" && return
    done
    return 1
}

install_as_root() {
    { apt-get update && apt-get install -y --no-install-recommends $packages fontconfig; } \
        >/dev/null 2>&1 </dev/null || fail
}

# As nobody in particular: apt's own state is root's, so ours stands in the cache.
own_apt() {
    apt-get -qq -o Dir::State::lists="$cache/lists" -o Dir::Cache="$cache/apt" \
        -o Debug::NoLocking=true -o APT::Sandbox::User= "$@" 2>/dev/null </dev/null
}

unpack_into_cache() {
    mkdir -p "$cache/lists/partial" "$cache/apt/archives/partial" "$cache/deb" "$cache/root"
    own_apt update || return 1
    # What is missing here, with all it depends on.
    missing=$(own_apt install --simulate --no-install-recommends $packages | sed -n 's/^Inst \([^ ]*\) .*/\1/p')
    [ -n "$missing" ] || return 1
    (cd "$cache/deb" && own_apt download $missing) || return 1
    for package in "$cache"/deb/*.deb; do
        dpkg -x "$package" "$cache/root" || return 1
    done
    rm -r "$cache/deb" "$cache/apt" "$cache/lists"
}

write_wrapper() {
    libraries=$(find "$cache/root" -name '*.so*' -exec dirname {} + | sort -u | tr '\n' ':')
    cat >"$cache/fonts.conf" <<END
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>$cache/root/usr/share/fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>$cache/fonts</cachedir>
</fontconfig>
END
    program="$cache/root/usr/lib/chromium/chromium"
    [ -x "$program" ] || program=$(command -v chromium)
    cat >"$cache/chromium" <<END
#!/bin/sh
export LD_LIBRARY_PATH="$libraries" FONTCONFIG_FILE="$cache/fonts.conf"
exec "$program" "\$@"
END
    chmod +x "$cache/chromium"
}

installed && exit
if [ "$(id -u)" = 0 ]; then
    command -v apt-get >/dev/null || fail
    install_as_root
    installed || fail
    exit
fi
if [ ! -x "$cache/chromium" ]; then
    command -v apt-get >/dev/null && command -v dpkg >/dev/null || fail
    unpack_into_cache || fail
    write_wrapper
fi
echo "$cache/chromium"
