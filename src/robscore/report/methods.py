"""A paragraph for the methods section of a paper, which says exactly what was done."""

from __future__ import annotations

from typing import Any

from robscore.report.record import Record
from robscore.report.words import family_in_words

CITATION = "Schwank, R., McCormack, A. and Drton, M. Robust Score Matching. Software: robscore {version}."
_RULES = {
    "f1": "the largest expected F1 score",
    "ebic": "the least calibrated extended Bayesian information criterion",
    "cv": "the least held-out loss in five-fold cross-validation",
    "stars": "the stability of the graph under subsampling",
}


def methods(record: Record) -> str:
    """The paragraph, without its references; everything in it comes from the record."""
    told = [_data(record), _model(record), _rows(record), _penalty(record), _certainty(record), _software(record)]
    return " ".join(part for part in told if part)


def citation(record: Record) -> str:
    """What to cite."""
    return CITATION.format(version=record.version)


def _data(record: Record) -> str:
    fit = record.fit
    used = f"{fit['n_rows_used']} complete rows of {fit['n_rows']}"
    if fit["n_rows_used"] == fit["n_rows"]:
        used = f"{fit['n_rows']} rows"
    scaled = ", scaled by robust deviations" if record.settings.get("scale") == "median" else ""
    return f"We learnt a sparse graph of {len(record.names)} variables from {used}{scaled}."


def _model(record: Record) -> str:
    why = record.fit.get("why_family")
    chosen = f" ({why})" if why else ""
    return (
        f"The model was a {family_in_words(record)} graphical model{chosen}, fitted by generalised score matching with "
        "an l1 penalty on the interactions."
    )


def _rows(record: Record) -> str:
    fit = record.fit
    if fit["share_dropped"] is not None:
        dropped = round(fit["share_dropped"] * fit["n_rows_used"])
        some = f"{dropped} rows ({fit['share_dropped']:.1%}) received weight zero" if dropped else "no row was left out"
        return f"Rows were weighted by how well they agree with the others, and {some}."
    if fit["n_blocks"] > 1:
        return f"Elements were averaged by the geometric median of {fit['n_blocks']} block means."
    return "All rows had the same weight."


def _penalty(record: Record) -> str:
    settings, fit = record.settings, record.fit
    edges = f"{len(record.edges)} edge{'' if len(record.edges) == 1 else 's'}"
    if settings.get("alpha") is not None:
        how = "was given"
    elif settings.get("n_edges") is not None:
        how = f"was chosen to give {settings['n_edges']} edges"
    else:
        rule = settings.get("select", "f1")
        rule = rule[0] if isinstance(rule, list) and rule else rule
        how = f"was chosen among {len(record.path['alphas'])} values by {_RULES.get(str(rule), str(rule))}"
    return f"The penalty (alpha = {fit['alpha']:.4g}) {how}; the graph has {edges}."


def _certainty(record: Record) -> str:
    sure = record.certainty
    if sure is None:
        return ""
    return " ".join(part for part in (_tests(sure), _halves(sure["stability"])) if part)


def _tests(sure: dict[str, Any]) -> str:
    if not sure["n_tested"]:
        return ""
    which = "the pairs chosen by one half of the rows, from the other half" if sure["split"] else "all pairs"
    return (
        f"Intervals ({sure['level']:.0%}) and tests are of the estimate without penalty of {which}, with sandwich "
        f"standard errors; q-values follow Benjamini and Hochberg over {sure['n_tested']} pairs."
    )


def _halves(stability: dict[str, Any] | None) -> str:
    if stability is None:
        return ""
    return f"Stability is the share of {stability['n_halves']} fits to random halves of the rows that have an edge."


def _software(record: Record) -> str:
    libraries = ", ".join(f"{name} {version}" for name, version in record.libraries.items())
    return f"Computed with robscore {record.version} ({libraries}), seed {record.settings.get('random_state')}."
