"""`pip install` of a wheel, in an environment of its own and far from the sources: everything that is needed is in it.

The dependencies are this environment's: what is tested is what the wheel carries.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
import time
import urllib.request
import venv
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fakes.serving import START_S, environment, sample_data

ROOT = Path(__file__).parents[2]
PACKAGES = ("bot", "kb", "ingest")
WEBSITE = re.compile(r"Playground: (http://127\.0\.0\.1:\d+/)")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def pip(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made of a copy: setuptools writes its `build` beside the sources."""
    sources, made = tmp_path_factory.mktemp("sources"), tmp_path_factory.mktemp("wheel")
    for file in written(*PACKAGES, "pyproject.toml", "README.md", "LICENSE"):
        (sources / file).parent.mkdir(parents=True, exist_ok=True)
        (sources / file).write_bytes((ROOT / file).read_bytes())
    pip("wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", made, sources)
    (file,) = made.glob("*.whl")
    return file


def written(*paths: str) -> list[str]:
    """The project's files below `paths`: all but those that git ignores."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *paths]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    return [name for name in listed.decode().split("\0") if name and (ROOT / name).exists()]


@pytest.fixture(scope="module")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`footnote`, installed from the wheel."""
    folder = tmp_path_factory.mktemp("installed") / "venv"
    venv.create(folder, with_pip=False, symlinks=True)
    pip("--python", folder / "bin" / "python", "install", "--quiet", "--no-deps", "--no-index", wheel)
    (packages,) = folder.glob("lib/python*/site-packages")
    # A path in a .pth brings the packages that lie there, not the .pth files: so not this checkout either.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    (folder / "share").mkdir(exist_ok=True)
    (folder / "share" / "footnote").symlink_to(Path(sys.prefix) / "share" / "footnote")  # models, converted
    return folder / "bin" / "footnote"


def test_it_carries_every_file_of_the_packages(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        carried = set(packed.namelist())
    assert [name for name in written(*PACKAGES) if name not in carried] == []
    assert {name.split("/")[0] for name in carried if ".dist-info" not in name} == set(PACKAGES)


def test_it_says_where_the_project_stands(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        (name,) = (name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        told = packed.read(name).decode().split("\n\n")[0].splitlines()
    named = {line.partition(": ")[0] for line in told}
    assert {"Summary", "License-Expression", "Classifier", "Keywords", "Requires-Python"} <= named


@pytest.mark.series
def test_it_ingests_and_answers(program: Path, tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "leave.md").write_text(
        "# Annual leave\n\nEvery employee gets 25 days of annual leave a year.\n", encoding="utf-8"
    )

    def run(*arguments: str | Path) -> str:
        done = subprocess.run(
            [program, *arguments, "--data", tmp_path / "data", "--json"],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=START_S * 2,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("ingest", pages)
    answer = json.loads(run("ask", "How many days of annual leave does an employee get?"))
    assert "25 days" in json.dumps(answer)
    where = [
        program.with_name("python"),
        "-c",
        "import bot, kb, ingest; print(bot.__file__, kb.__file__, ingest.__file__)",
    ]
    files = subprocess.run(where, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    assert all(Path(file).is_relative_to(program.parents[1]) for file in files)


@pytest.mark.series
def test_it_serves_the_sample_handbook(
    program: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = sample_data(tmp_path_factory.getbasetemp(), "sample-wheel")
    with serving(program, tmp_path, data) as url:
        with urllib.request.urlopen(url, timeout=60) as page:
            html = page.read().decode()
        scripts = re.findall(r'(?:src|href)="([^":]+\.(?:js|css))"', html)
        assert scripts
        for script in scripts:
            with urllib.request.urlopen(url.rstrip("/") + "/" + script.lstrip("/"), timeout=60) as file:
                assert file.status == 200


@contextmanager
def serving(program: Path, folder: Path, data: Path) -> Iterator[str]:
    log = folder / "log"
    options = ["playground", "--sample", "--port", "0", "--no-browser", "--data", data]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [program, *options], cwd=folder, env=environment(COLUMNS="300"), stdout=output, stderr=output
        )
    try:
        until = time.monotonic() + START_S * 2
        while not (found := WEBSITE.search(log.read_text(encoding="utf-8"))):
            assert process.poll() is None, log.read_text(encoding="utf-8")
            assert time.monotonic() < until, log.read_text(encoding="utf-8")
            time.sleep(0.05)
        yield found[1]
    finally:
        process.terminate()
        assert process.wait(timeout=60) == 0, log.read_text(encoding="utf-8")
