"""How long a stop may take, by the limits of its steps one after the other."""

from __future__ import annotations

import inspect

from bot.api import server
from bot.edge.slack_app import GRACE_S
from bot.queue.queue import QuestionQueue
from kb.store.valkey import STOP_S

_DRAIN_S = float(inspect.signature(QuestionQueue.run).parameters["drain_s"].default)

LONGEST_STOP_S = server.GRACE_S + _DRAIN_S + 2 * GRACE_S + STOP_S
"""The API's requests, the questions that are worked on, Slack's events
and what they began, the store of the data folder.
"""
