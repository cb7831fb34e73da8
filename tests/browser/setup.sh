#!/bin/sh
# Fetches headless Chromium for the tests in this folder: on Debian, as root, unless it is there.
# Never fails. Where no browser can be had, the tests are skipped and the summary says so.

for browser in chromium chromium-browser google-chrome; do
  if command -v "$browser" >/dev/null && command -v chromedriver >/dev/null; then
    exit 0
  fi
done

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo 'No Chromium here: the browser tests will be skipped (on Debian: apt install chromium chromium-driver)'
  exit 0
fi

echo 'Installing Chromium by apt, outside .venv, for the browser tests (once; a minute or so).'
echo 'To do without: interrupt (Ctrl-C) within five seconds, then make test BROWSER=no'
sleep 5
export DEBIAN_FRONTEND=noninteractive
quick='-qq -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o DPkg::Lock::Timeout=60'
# shellcheck disable=SC2086 # several options
if ! { timeout 120 apt-get $quick update &&
  timeout 400 apt-get $quick install -y --no-install-recommends \
    chromium chromium-driver fonts-dejavu-core; } >/dev/null 2>&1; then
  echo 'Chromium could not be installed: the browser tests will be skipped'
fi
exit 0
