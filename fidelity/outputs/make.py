#!/usr/bin/env python3
"""Makes the outputs again: fetches each project, breaks it, and writes what one command prints.

Each recipe in recipes/*.toml has these keys:

  name      the name of the log
  tool      the tool whose output it is
  version   a command that prints the version of the tool
  project   the project and where it is from
  broken    what was changed
  setup     shell commands that fetch, prepare and break the project in /build/NAME
  command   the command whose output (standard output and standard error together) is the log

It is meant for a container of Debian 12 that may be thrown away, as root, with `deb-src` enabled and

  apt-get install --no-install-recommends $(cat packages.txt)
  python3.11 -m venv /build/py && /build/py/bin/pip install -r requirements.txt
  mkdir /build/js && cp package.json /build/js && cd /build/js && npm install --legacy-peer-deps --ignore-scripts

Times, process numbers and addresses differ from run to run.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import tomllib

HERE = pathlib.Path(__file__).parent
BUILD = pathlib.Path("/build")
# Functions for recipes: each fetches a source tree into the current directory.
SHELL = r"""
set -e
pypi() { # NAME VERSION: the source distribution
    curl -sSfL "$(curl -sSfL "https://pypi.org/simple/$1/" | python3 -c 'import html,re,sys
links = map(html.unescape, re.findall("href=.([^#\"]+)", sys.stdin.read()))
print(next(link for link in links if link.endswith((sys.argv[1] + ".tar.gz", sys.argv[1] + ".zip"))))' "-$2")" > sdist
    (tar xf sdist --strip-components=1 || { mkdir z && cd z && unzip -q ../sdist && mv */* ../; }) && rm sdist
}
crate() { # NAME VERSION
    curl -sSfL "https://static.crates.io/crates/$1/$1-$2.crate" | tar xz --strip-components=1
}
deb() { # SOURCE: the source package of this release, patched
    (mkdir -p /tmp/deb && cd /tmp/deb && apt-get -qq source --download-only "$1" >/dev/null 2>&1 &&
        dpkg-source -x "$(ls -t "$1"_*.dsc | head -1)" "$OLDPWD/unpacked" >/dev/null 2>&1)
    shopt -s dotglob && mv unpacked/* . && rmdir unpacked && shopt -u dotglob
}
swap() { # FILE OLD NEW [ALL]: replaces text; fails if it is not there
    python3 - "$@" <<'PYTHON'
import sys
path, old, new = sys.argv[1:4]
text = open(path, newline="").read()
assert old in text, f"{old!r} is not in {path}"
open(path, "w", newline="").write(text.replace(old, new, -1 if sys.argv[4:] else 1))
PYTHON
}
npmpack() { # NAME@VERSION
    tar xzf "$(npm pack --silent "$1")" --strip-components=1
}
"""


def recipes():
    for path in sorted((HERE / "recipes").glob("*.toml")):
        yield from tomllib.loads(path.read_text())["case"]


def neutral(text):
    """Replaces the names of this machine."""
    host = os.uname().nodename
    text = text.replace(b"/tmp/pytest-of-root", b"/tmp/pytest-of-user").replace(host.encode(), b"host")
    return re.sub(rb"(?<![\w.])/root(?![\w-])", b"/home/user", text)


def run(case, into, again):
    place = BUILD / case["name"]
    kept = {name: value for name, value in os.environ.items() if name == "HOME" or "CA" in name or "SSL" in name}
    environment = dict(kept, TERM="dumb", LC_ALL="C.UTF-8", COLUMNS="100", DEBIAN_FRONTEND="noninteractive",
                       PIP_DISABLE_PIP_VERSION_CHECK="1", NO_UPDATE_NOTIFIER="1", GO111MODULE="off",
                       NODE_PATH="/build/js/node_modules",
                       PATH="/build/py/bin:/build/js/node_modules/.bin:" + os.environ["PATH"])
    environment.update(case.get("environment", {}))
    if again or not (place / ".ready").exists():
        subprocess.run(["rm", "-rf", place], check=True)
        place.mkdir(parents=True)
        done = subprocess.run(["bash", "-c", SHELL + case["setup"]], cwd=place, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True)
        if done.returncode:
            print(f"{case['name']}: setup failed: {(done.stdout + done.stderr)[-300:].decode(errors='replace')}", flush=True)
            return
        (place / ".ready").touch()
    try:
        done = subprocess.run(["bash", "-c", case["command"]], cwd=place, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=case.get("timeout", 400))
    except subprocess.TimeoutExpired:
        print(f"{case['name']}: timed out", flush=True)
        return
    text = neutral(done.stdout)
    (into / f"{case['name']}.log").write_bytes(text)
    version = subprocess.run(["bash", "-c", case["version"] + " 2>&1 | grep -m1 '[0-9]'"], cwd=place, env=environment,
                             stdin=subprocess.DEVNULL, capture_output=True).stdout
    facts = {"exit": done.returncode, "bytes": len(text), "version": version.decode().strip()}
    (into / f"{case['name']}.json").write_text(json.dumps(facts))
    print(f"{case['name']}: exit {done.returncode}, {len(text)} bytes, {text.count(10)} lines", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="print the names")
    parser.add_argument("--again", action="store_true", help="fetch and run also what was made before")
    parser.add_argument("--into", type=pathlib.Path, default=pathlib.Path("logs"), help="the folder for the logs")
    options = parser.parse_args()
    options.into.mkdir(exist_ok=True, parents=True)
    for case in recipes():
        if options.list:
            print(case["name"])
        elif (not options.names or case["name"] in options.names) and (
                options.again or not (options.into / f"{case['name']}.log").exists()):
            run(case, options.into, options.again)


if __name__ == "__main__":
    main()
