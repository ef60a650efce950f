"""What is deployed is well formed, and what it names is there. Nothing here is built or started."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from kb.configuration import PREFIX, WELL_KNOWN

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
SETUP = ROOT / "deploy" / "setup.sh"
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8"))
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TORCH = next(one for one in PROJECT["project"]["dependencies"] if one.startswith("torch=="))


def checked(tool: str, *arguments: str | Path) -> None:
    """Runs a checker of the dev group; skips where it has no build for this machine."""
    program = shutil.which(tool, path=str(Path(sys.executable).parent)) or shutil.which(tool)
    if program is None:
        pytest.skip(f"{tool} is not installed")
    done = subprocess.run([program, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_dockerfile_is_clean() -> None:
    checked("hadolint", "Dockerfile")


def test_the_compose_file_follows_its_specification() -> None:
    checked("check-jsonschema", "--builtin-schema", "vendor.compose-spec", "deploy/compose.yaml")


def test_the_setup_script_is_clean() -> None:
    subprocess.run(["sh", "-n", SETUP], check=True)
    checked("shellcheck", SETUP)


def test_the_image_copies_what_is_there_and_all_that_is_packaged() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    names = {name for line in copied for name in line.split()}
    assert [name for name in names if not (ROOT / name).exists()] == []
    packages = {
        pattern.rstrip("*") for pattern in PROJECT["tool"]["setuptools"]["packages"]["find"]["include"]
    }
    assert packages | {"pyproject.toml", PROJECT["project"]["readme"], "LICENSE"} <= names


def test_every_place_installs_the_same_torch() -> None:
    version = TORCH.removeprefix("torch==")
    assert re.findall(r"torch==([\d.]+)", DOCKERFILE) == [version]
    assert re.findall(r"^torch=([\d.]+)$", SETUP.read_text(encoding="utf-8"), re.MULTILINE) == [version]


def test_the_image_runs_as_a_user_of_its_own_on_a_python_that_the_project_allows() -> None:
    user = re.search(r"^USER (\d+):\d+$", DOCKERFILE, re.MULTILINE)
    assert user is not None, "by number: an orchestrator that refuses root cannot look a name up"
    assert int(user[1]) > 0
    assert f"--uid {user[1]} " in DOCKERFILE
    versions = {tuple(map(int, one.split("."))) for one in re.findall(r"FROM python:([\d.]+)-", DOCKERFILE)}
    assert len(versions) == 1, "the environment is built with one Python and run with another"
    least = tuple(map(int, PROJECT["project"]["requires-python"].removeprefix(">=").split(".")))
    assert versions.pop() >= least


def test_the_image_runs_commands_that_exist() -> None:
    entry = re.search(r'^ENTRYPOINT \["(\w+)"\]$', DOCKERFILE, re.MULTILINE)
    assert entry is not None
    assert entry[1] in PROJECT["project"]["scripts"]
    from bot.cli.commands import app

    known = {one.name or one.callback.__name__ for one in app.registered_commands if one.callback}
    health = re.search(r'CMD \["footnote", "(\w+)"', DOCKERFILE)
    starts = re.search(r'^CMD \["(\w+)"', DOCKERFILE, re.MULTILINE)
    assert health is not None
    assert starts is not None
    assert {health[1], starts[1]} <= known


def test_the_services_refer_to_each_other_and_to_volumes_that_are_declared() -> None:
    services = COMPOSE["services"]
    for service in services.values():
        assert set(service.get("depends_on", {})) <= set(services)
        for other, how in service.get("depends_on", {}).items():
            assert how["condition"] != "service_healthy" or "healthcheck" in services[other]
        named = {
            mount.split(":")[0]
            for mount in service.get("volumes", ())
            if not mount.startswith(("$", "/", "."))
        }
        assert named <= set(COMPOSE["volumes"])
    used = {mount.split(":")[0] for service in services.values() for mount in service.get("volumes", ())}
    assert set(COMPOSE["volumes"]) <= used


def test_the_services_are_addressed_by_settings_that_exist() -> None:
    footnote = COMPOSE["services"]["footnote"]
    for name, value in footnote["environment"].items():
        assert name in WELL_KNOWN or name.startswith(PREFIX), name
        host = re.match(r"\w+://([\w-]+):\d+", value)
        assert host is None or host[1] in COMPOSE["services"], value


def test_the_bots_data_outlives_its_container() -> None:
    assert "/data" in re.findall(r"^VOLUME (\S+)$", DOCKERFILE, re.MULTILINE)
    assert "FOOTNOTE_DATA=/data" in DOCKERFILE
    assert "footnote:/data" in COMPOSE["services"]["footnote"]["volumes"]


def test_what_was_accepted_survives_a_restart_of_redis() -> None:
    command = COMPOSE["services"]["redis"]["command"]
    assert command[command.index("--appendonly") + 1] == "yes"
    assert command[command.index("--appendfsync") + 1] == "always"
    assert any(mount.endswith(":/data") for mount in COMPOSE["services"]["redis"]["volumes"])


def test_a_stop_leaves_time_to_finish_what_is_being_answered() -> None:
    from kb.settings import ModelSettings

    grace = COMPOSE["services"]["footnote"]["stop_grace_period"]
    assert int(grace.removesuffix("s")) > ModelSettings().answer_deadline_s


def test_the_image_of_qdrant_is_of_the_clients_version() -> None:
    image = re.fullmatch(r"qdrant/qdrant:v(\d+\.\d+)\.\d+", COMPOSE["services"]["qdrant"]["image"])
    client = next(one for one in PROJECT["project"]["dependencies"] if one.startswith("qdrant-client"))
    assert image is not None
    assert f">={image[1]}" in client
