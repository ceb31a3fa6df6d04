"""What a record says, in sentences that a colleague understands."""

from __future__ import annotations

from robscore._tools.words import clipped, visible
from robscore.report.record import Record

# Cautions of these kinds leave a graph in doubt; others only qualify it.
_DOUBTFUL = ("GROUP", "LEFT_OUT", "MISFIT", "NOT_CONVERGED", "FEW_ROWS")


def headline(record: Record) -> str:
    """The finding in one sentence, no surer than the cautions are."""
    m, count = len(record.names), len(record.edges)
    pairs = m * (m - 1) // 2
    doubtful = any(kind in _DOUBTFUL for kind, _ in record.cautions)
    if not count:
        if doubtful:
            return f"No link between the {m} variables could be made out, which does not mean that there is none"
        return f"No two of the {m} variables are linked directly"
    verb = ("seem" if count > 1 else "seems") + " to be" if doubtful else "are" if count > 1 else "is"
    return f"{count} of {pairs} pairs of variables {verb} linked directly"


def cautions(record: Record) -> list[str]:
    """What to be careful about, worst first."""
    return [words for _, words in record.cautions]


def findings(record: Record) -> list[str]:
    """What else there is to know at a glance: strongest links, rows, the family, the comparison."""
    told = _strongest(record), _about_rows(record), _about_family(record), _compared(record)
    return [words for words in told if words]


def _strongest(record: Record) -> str:
    if not record.edges:
        several = len(record.path["graphs"]) > 1
        return "Less of a penalty gives more links; the slider goes through them." if several else ""
    named = []
    for i, j, _, strength in record.edges[:3]:
        named.append(f"{shortened(record.names[i])} and {shortened(record.names[j])} ({strength:+.2f})")
    positive = sum(1 for edge in record.edges if edge[3] > 0)
    signs = f"{positive} positive, {len(record.edges) - positive} negative"
    return f"Strongest: {', '.join(named)}. Signs: {signs}."


def shortened(name: str, most: int = 40) -> str:
    """A name that does not fill the line, and does nothing else to a terminal either."""
    return visible(clipped(name, most))


def _about_rows(record: Record) -> str:
    fit = record.fit
    used, given = fit["n_rows_used"], fit["n_rows"]
    complete = f" {given - used} incomplete rows were not used." if used < given else ""
    if fit["share_dropped"] is not None:
        dropped = round(fit["share_dropped"] * used)
        if not dropped:
            return f"All {used} rows fit together; none was left out.{complete}"
        return f"{dropped} of {used} rows ({dropped / used:.1%}) do not fit the others and count for nothing.{complete}"
    if fit["n_blocks"] > 1:
        return (
            f"The {used} rows are weighed by a geometric median of {fit['n_blocks']} blocks: as much as "
            f"{fit['effective_rows'][0]:.0f} equal rows.{complete}"
        )
    return f"Classic score matching: all {used} rows count equally, bad ones too.{complete}"


def _about_family(record: Record) -> str:
    why = record.fit.get("why_family")
    return f"Family: {record.fit['family']}, {why}." if why else ""


def _compared(record: Record) -> str:
    if record.classic is None:
        return ""
    m = len(record.names)
    ours = {i * m + j for i, j, _, _ in record.edges}
    position = next(k for k, graph in enumerate(record.path["graphs"]) if graph["position"] == record.path["chosen"])
    theirs = set(record.classic["graphs"][record.classic["beside"][position]]["pairs"])
    if not ours and not theirs:
        return "Classic score matching finds nothing either."
    if ours == theirs:
        return "Classic score matching, which counts every row the same, finds the very same graph."
    return (
        f"Classic score matching, which counts every row the same, agrees on {len(ours & theirs)} of them when it has "
        f"{'as many' if len(theirs) == len(ours) else len(theirs)} edges."
    )
