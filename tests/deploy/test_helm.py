"""What the Helm chart makes of its values: rendered by Helm's own
engine, checked against Kubernetes' schemas, read by the bot.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from kb.config.configuration import load_settings
from kb.config.settings import Settings
from tests.deploy.rendering import (
    CHART,
    EXAMPLES,
    NEEDS_HELM,
    ROOT,
    environment,
    examples,
    made_of,
    manifests,
    pods,
    the,
)
from tests.deploy.stopping import LONGEST_STOP_S

FOREIGN = {"ServiceMonitor", "PrometheusRule"}
"""Kinds of the Prometheus operator, which Kubernetes' schemas do not have."""
KUBERNETES = ("1.27", "1.37")
"""The oldest that the chart allows, and the newest whose schemas are at hand."""

pytestmark = NEEDS_HELM


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_chart_is_clean(name: str) -> None:
    assert examples()[name]["concerns"] == []


@pytest.mark.parametrize("version", KUBERNETES)
@pytest.mark.parametrize("name", EXAMPLES)
def test_kubernetes_takes_what_is_rendered(name: str, version: str) -> None:
    import kubernetes_validate

    for manifest in manifests(name):
        if manifest["kind"] not in FOREIGN:
            kubernetes_validate.validate(manifest, version, strict=True)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"existingSecret": ""}, "existingSecret: name the Secret"),
    ({"replicas": 2, "qdrant": {"url": "http://q:6333"}}, "2 bots need a Redis that they share"),
    (
        {"replicas": 2, "redis": {"url": "redis://r:6379/0"}},
        "2 bots need a Qdrant server that they share",
    ),
    ({"workers": {"replicas": 1}}, "workers meet the bot in Redis"),
    ({"redis": {"create": True}}, "REDIS_PASSWORD"),
    ({"qdrant": {"create": True}}, "QDRANT_API_KEY"),
    ({"redis": {"url": "redis://:pw@r:6379/0"}}, "does not match pattern"),
    ({"redis": {"url": "redis://r", "existingSecret": "s"}}, "either `url` or `existingSecret`"),
    ({"qdrant": {"create": True, "url": "http://q", "existingSecret": "s"}}, "either `create` one"),
    ({"ingress": {"enabled": True, "host": "kb.example.com"}}, "Socket Mode needs none"),
    ({"ingress": {"enabled": True}, "slack": {"http": True}}, "ingress.host"),
    ({"terminationGracePeriodSeconds": 30}, "a stop takes 50 s at most"),
    ({"replica": 2}, "replica"),
    ({"config": {"embedd": {}}}, "embedd"),
]


@cache
def _refusals() -> list[str]:
    return [
        told["refused"] for told in made_of(*({"existingSecret": "footnote", **one} for one, _ in REFUSED))
    ]


@pytest.mark.parametrize("number", range(len(REFUSED)), ids=[sentence for _, sentence in REFUSED])
def test_what_cannot_work_is_refused_in_a_sentence(number: int) -> None:
    assert REFUSED[number][1] in _refusals()[number]


def test_the_schema_knows_every_section_of_the_settings() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    sections = schema["properties"]["config"]["propertyNames"]["enum"]
    assert set(sections) == Settings.model_fields.keys() - {"data"}


def test_bots_that_share_nothing_of_their_own_are_replaced_one_by_one_without_a_gap() -> None:
    spec = the("created", "Deployment", "kb-footnote")["spec"]
    assert spec["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1},
    }
    budget = the("created", "PodDisruptionBudget", "kb-footnote")["spec"]
    assert budget["maxUnavailable"] == 1
    assert budget["selector"] == spec["selector"]


def test_a_bot_with_an_index_of_its_own_ends_before_the_next_one_starts() -> None:
    spec = the("one", "Deployment", "kb-footnote")["spec"]
    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})
    (data,) = [it for it in spec["template"]["spec"]["volumes"] if it["name"] == "data"]
    claim = the("one", "PersistentVolumeClaim", data["persistentVolumeClaim"]["claimName"])
    assert claim["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"
    assert not [it for it in manifests("one") if it["kind"] == "PodDisruptionBudget"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_no_pod_is_root_writes_beside_its_volumes_or_speaks_to_kubernetes(name: str) -> None:
    for pod in pods(name):
        (container,) = pod["containers"]
        assert (pod["securityContext"]["runAsNonRoot"], pod["securityContext"]["runAsUser"] > 0) == (
            True,
            True,
        )
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert pod["automountServiceAccountToken"] is False
        assert {"data", "tmp"} <= {mount["name"] for mount in container["volumeMounts"]}
        assert container["resources"]["requests"].keys() >= {"cpu", "memory"}
        assert "memory" in container["resources"]["limits"]


def test_the_user_is_that_of_the_image() -> None:
    user = re.search(r"^USER (\d+):(\d+)$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    assert user is not None
    for pod in pods("several"):
        context = pod["securityContext"]
        assert (context["runAsUser"], context["runAsGroup"]) == tuple(map(int, user.groups()))


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_stop_may_take_as_long_as_it_can(name: str) -> None:
    for kind, named in (("Deployment", "kb-footnote"), ("Deployment", "kb-footnote-worker")):
        for it in manifests(name):
            if (it["kind"], it["metadata"]["name"]) == (kind, named):
                pod = it["spec"]["template"]["spec"]
                pause = (
                    pod["containers"][0]
                    .get("lifecycle", {})
                    .get("preStop", {})
                    .get("exec", {"command": ["", "0"]})
                )
                assert pod["terminationGracePeriodSeconds"] >= LONGEST_STOP_S + int(pause["command"][1])


def test_a_restart_is_for_a_process_that_does_not_answer_and_a_question_for_one_that_is_ready() -> None:
    from bot.api.app import create_app

    container = the("several", "Deployment", "kb-footnote")["spec"]["template"]["spec"]["containers"][0]
    asked = {
        probe: container[f"{probe}Probe"]["httpGet"]["path"] for probe in ("startup", "liveness", "readiness")
    }
    assert asked == {"startup": "/live", "liveness": "/live", "readiness": "/ready"}
    assert set(asked.values()) <= create_app().openapi()["paths"].keys()


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_bot_understands_its_variables_and_its_file(name: str, tmp_path: Path) -> None:
    pod = the(name, "Deployment", "kb-footnote")["spec"]["template"]["spec"]
    given = environment(pod)
    file = tmp_path / "footnote.toml"
    file.write_text(the(name, "ConfigMap", "kb-footnote")["data"]["footnote.toml"], encoding="utf-8")
    tokens = {"CONFLUENCE_API_TOKEN": "t", "CONFLUENCE_EMAIL": "kb@example.com"} if name == "several" else {}
    settings = load_settings(environ={**given, **tokens}, file=file)
    assert str(settings.data).startswith("/data/")
    assert (settings.api.port, settings.api.host) == (8080, "0.0.0.0")
    assert {"s3cr3t", "kb-footnote.tools.svc"} <= set(settings.api.hosts), (
        "Prometheus asks a pod by its address"
    )
    if name == "several":
        assert (settings.slack.workers, settings.slack.admins) == (8, ("@kb-admins",))
        assert settings.freshness.max_age_by_path == {"policies/**": 90}
        assert [source.name for source in settings.sources] == ["wiki"]
        assert "kb.example.com" in settings.api.hosts
    if name == "one":
        assert (settings.embed.threads, settings.rerank.threads) == (4, 4)


@pytest.mark.parametrize("name", ["several", "created"])
def test_a_worker_has_the_bots_models_and_redis_and_no_token(name: str, tmp_path: Path) -> None:
    bot = the(name, "Deployment", "kb-footnote")["spec"]["template"]["spec"]
    worker = the(name, "Deployment", "kb-footnote-worker")["spec"]["template"]["spec"]
    assert "envFrom" not in worker["containers"][0]
    assert environment(worker).keys() <= {"FOOTNOTE_CONFIG", "REDIS_URL", "REDIS_PASSWORD"}
    assert environment(worker)["REDIS_URL"] == environment(bot)["REDIS_URL"]
    read = []
    for named, pod in (("kb-footnote", bot), ("kb-footnote-worker", worker)):
        (config,) = [it["configMap"]["name"] for it in pod["volumes"] if it["name"] == "config"]
        assert config == named
        file = tmp_path / f"{named}.toml"
        file.write_text(the(name, "ConfigMap", config)["data"]["footnote.toml"], encoding="utf-8")
        read.append(
            load_settings(environ={"CONFLUENCE_API_TOKEN": "t", "CONFLUENCE_EMAIL": "x@y.z"}, file=file)
        )
    assert read[0].embed == read[1].embed
    assert read[1].sources == ()


@pytest.mark.parametrize("name", EXAMPLES)
def test_secrets_are_named_and_never_told(name: str) -> None:
    assert "Secret" not in {it["kind"] for it in manifests(name)}
    told = [
        variable
        for pod in pods(name)
        for variable in pod["containers"][0].get("env", ())
        if "value" in variable
    ]
    secret = [it["name"] for it in told if re.search("TOKEN|SECRET|PASSWORD|KEY", it["name"])]
    assert secret == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_pod_has_a_policy_and_every_policy_and_service_a_pod(name: str) -> None:
    labels = {
        it["metadata"]["name"]: it["spec"]["template"]["metadata"]["labels"]
        for it in manifests(name)
        if it["kind"] in ("Deployment", "StatefulSet")
    }

    def chosen(selector: Mapping[str, str]) -> list[str]:
        return [pod for pod, its in labels.items() if selector.items() <= its.items()]

    policies = [it["spec"] for it in manifests(name) if it["kind"] == "NetworkPolicy"]
    assert sorted(pod for it in policies for pod in chosen(it["podSelector"]["matchLabels"])) == sorted(
        labels
    )
    for it in manifests(name):
        if it["kind"] == "Service":
            assert chosen(it["spec"]["selector"]) == [it["metadata"]["name"]]


def test_what_the_chart_makes_is_reached_by_bots_alone_and_redis_by_workers_too() -> None:
    reached = {
        it["metadata"]["name"]: [
            peer["podSelector"]["matchLabels"]["app.kubernetes.io/component"]
            for rule in it["spec"]["ingress"]
            for peer in rule["from"]
        ]
        for it in manifests("created")
        if it["kind"] == "NetworkPolicy" and it["metadata"]["name"].endswith(("redis", "qdrant"))
    }
    assert reached == {"kb-footnote-redis": ["bot", "worker"], "kb-footnote-qdrant": ["bot"]}


def test_the_images_are_those_of_the_compose_file() -> None:
    services = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8"))["services"]
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    assert values["redis"]["image"] == services["redis"]["image"]
    assert values["qdrant"]["image"] == services["qdrant"]["image"] + "-unprivileged"


def test_prometheus_gets_the_alerts_and_the_job_that_they_go_by() -> None:
    rules = ROOT / "deploy" / "prometheus" / "footnote-rules.yaml"
    told = yaml.safe_load(rules.read_text(encoding="utf-8"))
    assert the("several", "PrometheusRule", "kb-footnote")["spec"] == told
    (endpoint,) = the("several", "ServiceMonitor", "kb-footnote")["spec"]["endpoints"]
    (job,) = set(re.findall(r'job="(\w+)"', rules.read_text(encoding="utf-8")))
    assert endpoint["relabelings"] == [{"targetLabel": "job", "replacement": job}]
    ports = the("several", "Service", "kb-footnote")["spec"]["ports"]
    assert endpoint["port"] in {port["name"] for port in ports}
    annotations = the("one", "Deployment", "kb-footnote")["spec"]["template"]["metadata"]["annotations"]
    assert (annotations["prometheus.io/port"], annotations["prometheus.io/path"]) == ("8080", "/metrics")


def test_only_the_api_and_slacks_events_are_led_in_from_outside() -> None:
    (rule,) = the("several", "Ingress", "kb-footnote")["spec"]["rules"]
    paths = {it["path"]: it["backend"]["service"]["port"]["name"] for it in rule["http"]["paths"]}
    assert paths == {"/slack/events": "slack", "/api/v1": "api", "/mcp": "api"}
