"""Words the figures of `/kb stats` and of an admin's App Home."""

from __future__ import annotations

from bot.messages.catalog import Messages
from bot.rendering.mrkdwn import escape
from bot.stats.counts import Stats
from kb.llm.usage import ModelUsage


def stats_lines(stats: Stats, messages: Messages) -> list[str]:
    lines = [
        messages.stats_questions.format(number=messages.number(stats.questions)),
        messages.stats_declined.format(number=messages.number(stats.declined)),
        messages.stats_unavailable.format(number=messages.number(stats.unavailable)),
        messages.stats_rewritten.format(
            number=messages.number(stats.rewritten), percent=messages.percent(stats.rewrite_rate)
        ),
        messages.stats_feedback.format(
            up=messages.number(stats.positive), down=messages.number(stats.negative)
        ),
    ]
    if stats.mean_rewrite_ms is not None:
        lines.append(messages.stats_rewrite_time.format(ms=round(stats.mean_rewrite_ms)))
    if stats.lost_rewrites:
        lines.append(messages.stats_rewrites_lost.format(number=messages.number(stats.lost_rewrites)))
    checked = stats.checked
    if checked.sentences:
        lines.append(
            messages.stats_checked.format(
                sentences=messages.number(checked.sentences),
                cited=messages.number(checked.cited),
                supported=messages.number(checked.supported),
                removed=messages.number(checked.removed),
                dropped=messages.number(checked.dropped_citations),
            )
        )
    lines += [_model_line(model, used, messages) for model, used in sorted(stats.models.items())]
    if stats.satisfaction is not None:
        lines.append(messages.stats_satisfaction.format(percent=messages.percent(stats.satisfaction)))
    if stats.p50_ms is not None and stats.p95_ms is not None:
        lines.append(messages.stats_time.format(p50=round(stats.p50_ms), p95=round(stats.p95_ms)))
    return [f"• {line}" for line in lines]


def _model_line(model: str, used: ModelUsage, messages: Messages) -> str:
    read = used.input_tokens + used.cache_read_tokens + used.cache_written_tokens
    return messages.stats_model.format(
        model=escape(model),
        calls=messages.number(used.calls),
        read=messages.number(read),
        cached=messages.number(used.cache_read_tokens),
        written=messages.number(used.output_tokens),
    )
