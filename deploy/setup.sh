#!/bin/sh
# Makes the virtual environment: sh deploy/setup.sh .venv [dev|torch]; "torch" puts nothing but PyTorch into it.
# PyTorch comes first and as its CPU build: left to itself pip would bring several gigabytes of CUDA on Linux.
set -eu

venv=$1
group=${2:-}
torch=2.13.0

find_python() {
    for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    echo "Footnote needs Python 3.11 or newer; install it, or name one: make PYTHON=/path/to/python3.12 run" >&2
    exit 1
}

install_torch() {
    if "$venv/bin/python" -c "import importlib.metadata as m, sys; sys.exit(m.version('torch').split('+')[0] != '$torch')" 2>/dev/null; then
        return
    fi
    echo "Installing PyTorch $torch (CPU) ..."
    if [ "$(uname -s)" != Linux ]; then
        "$venv/bin/pip" install --quiet "torch==$torch"  # the ordinary build is the CPU one
        return
    fi
    "$venv/bin/pip" install --quiet "torch==$torch+cpu" 2>/dev/null ||
        "$venv/bin/pip" install --quiet --index-url https://download.pytorch.org/whl/cpu "torch==$torch+cpu" || {
        echo "The CPU build of PyTorch $torch could not be installed: see the lines above. Behind a proxy, give pip an index" >&2
        echo "that has torch==$torch+cpu (pip config set global.extra-index-url ...), then run make again." >&2
        exit 1
    }
}

[ -x "$venv/bin/python" ] || "$(find_python)" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --upgrade "pip>=25.1" # dependency groups need 25.1
install_torch
[ "$group" != torch ] || exit 0
echo "Installing Footnote ..."
if [ -n "$group" ]; then
    "$venv/bin/pip" install --quiet --editable ".[models]" --group "$group"
else
    "$venv/bin/pip" install --quiet --editable ".[models]"
fi
echo "Preparing the embedding models ..."
"$venv/bin/python" -m kb.inference.prepare || echo "They will be prepared, or run by PyTorch, at the first start." >&2
