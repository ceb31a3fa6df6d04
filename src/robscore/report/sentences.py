"""A record in sentences: findings for a colleague without statistics, and the methods section of a paper."""

from __future__ import annotations

from typing import Any

from robscore._tools.messages import cut_names, first_few, signed, visible
from robscore.links import DOUBTFUL, KnownLinks, LinkTests, PairTest
from robscore.report.record import Record

_LONGEST_NAME = 40  # letters: longer names would fill the line

_FAMILIES = {
    "Gaussian()": "Gaussian",
    "SquareRoot()": "square-root",
    "Gamma()": "gamma",
    "TruncatedGaussian()": "truncated Gaussian",
    "LogLog()": "log-log",
    "Simplex()": "simplex",
    "GaussianCopula()": "Gaussian copula",
}
_MEASUREMENTS = ("continuous", "rounded")
_LATENT = (
    "Associations are partial correlations of latent normal numbers, one behind every value: they depend neither on "
    "how answers are coded nor on the shape of a column."
)
CITATION = "Schwank, R., McCormack, A. and Drton, M. Robust Score Matching. Software: robscore {version}."
_RULES = {
    "f1": "the largest expected F1 score",
    "ebic": "the least calibrated extended Bayesian information criterion",
    "cv": "the least held-out loss in five-fold cross-validation",
    "stars": "the stability of the graph under subsampling",
}


def headline(record: Record) -> str:
    """The finding in a few words, as certain as the tests and the cautions are."""
    return _links(record).headline


def _links(record: Record) -> KnownLinks:
    """The links with what the record knows of them."""
    sure, tests = record.certainty, None
    if sure is not None and not sure["why_not"]:
        tests = LinkTests({(pair[0], pair[1]): PairTest(pair[2], pair[6]) for pair in sure["pairs"]}, sure["fdr"])
    edges = [(i, j, strength) for i, j, _, strength in record.edges]
    return KnownLinks(len(record.names), edges, tests, is_doubtful(record))


def is_doubtful(record: Record) -> bool:
    """Whether a caution leaves the graph in doubt."""
    return any(kind in {about.name for about in DOUBTFUL} for kind, _ in record.cautions)


def cautions(record: Record) -> list[str]:
    """What to be careful about, worst first."""
    return [words for _, words in record.cautions]


def findings(record: Record) -> list[str]:
    """What else there is to know at a glance: strongest links, rows, the family, the comparison."""
    about_data = _about_rows(record), _about_kinds(record)
    parts = _strongest(record), _on_groups(record), *about_data, _compared(record), _about_family(record)
    return [sentences for sentences in parts if sentences]


def no_cautions(record: Record) -> str:
    """That there are no cautions, which a reader would look for, and whether the model was checked at all."""
    if record.cautions:
        return ""
    checked = record.check is not None and record.check["verdict"] is not None
    unless = "" if checked else ", but whether the model fits could not be checked"
    return f"No cautions: nothing in the rows or columns speaks against this graph{unless}."


def _on_groups(record: Record) -> str:
    """Whether links change with groups or numbers, and how many do."""
    changes = record.given.get("changes", [])
    if not changes:
        return ""
    count = len({(i, j) for _, pairs in changes for i, j, _ in pairs})
    some = f"{count} pair{' changes' if count == 1 else 's change'}" if count else "no pair changes"
    return f"These links are what all rows have in common; with the groups or numbers given, {some}."


def how_sure(record: Record) -> str:
    """How certain the links are, in a sentence or two."""
    sure = record.certainty
    if sure is None:
        return "How certain the links are was not recorded; fit again with this version to know."
    hardly = " This assumes that the model is right; see the cautions." if is_doubtful(record) else ""
    halves = "" if sure["stability"] is None else _by_halves(record)
    if sure["why_not"] and halves:
        return f"{halves} How certain each link is cannot be tested: {_too_little(record)}.{hardly}"
    if sure["why_not"] and record.given.get("changes"):
        where = 'in the report under "Covariates and groups"'
        return f"What changes with groups or numbers is tested ({where}); the common links are not."
    if sure["why_not"]:
        return f"How certain the links are cannot be judged: {_too_little(record)}."
    return " ".join(part for part in (_by_tests(record), halves) if part) + hardly


def _by_tests(record: Record) -> str:
    """How many links are clear by the tests of the record."""
    assert record.certainty is not None
    links, sure = _links(record), record.certainty
    count, clear = len(record.edges), len(links.clear)
    others = len(links.clear_pairs) - clear - len(links.reversed)
    missed = ""
    if others:
        other = f"{others} more {'pair is' if others == 1 else 'pairs are'}"
        missed = f" {other} clear by the same test, but not in the graph." if count else ""
    missed += _about_reversed(record, links.reversed)
    if not count and others:
        may = "1 may be linked" if others == 1 else f"{others} may be linked"
        return f"A separate test of each of the {sure['n_tested']} pairs says that {may}."
    if not count:
        return f"A separate test of each of the {sure['n_tested']} pairs finds none either."
    half = " (half of the rows chose the links, the other half tested them)" if sure["split"] else ""
    if not clear:
        which = "The link is not" if count == 1 else f"None of the {count} links is"
        return f"{which} clearly more than chance{half}.{missed}"
    which = f"{clear} of the {count} links {'is' if clear == 1 else 'are'}"
    if clear == count:
        which = f"{'Both' if count == 2 else f'All {count}'} links are" if count > 1 else "The link is"
    return f"{which} clearly more than chance{half}{_how_many_false(clear, sure['fdr'])}.{missed}"


def _how_many_false(clear: int, fdr: float) -> str:
    """How many clear links may be false, in whole links; nothing where that is less than one."""
    false = round(clear * fdr)
    return f"; about {false} of these {clear} may still be false" if false else ""


def _tested(record: Record) -> dict[tuple[int, int], list[Any]]:
    """The tests by pairs, as the record has them: i, j, estimate without shrinkage, low, high, p, q, worth."""
    return {} if record.certainty is None else {(pair[0], pair[1]): pair for pair in record.certainty["pairs"]}


def _about_reversed(record: Record, which: list[tuple[int, int]]) -> str:
    if not which:
        return ""
    i, j = which[0]
    names = _short_names(record)
    pair = f"{names[i]} and {names[j]}"
    some = f"of {pair}" if len(which) == 1 else f"of {pair} (and of {len(which) - 1} more)"
    return f" The sign {some} turns round without shrinkage: do not rely on either."


def _by_halves(record: Record) -> str:
    assert record.certainty is not None
    stability = record.certainty["stability"]
    ours = {(i, j) for i, j, _, _ in record.edges}
    if not ours:
        return ""
    kept = [pair for pair in stability["pairs"] if pair[2] >= stability["threshold"] and (pair[0], pair[1]) in ours]
    false = stability["expected_false"]
    bound = f"; at most {false:.2g} of such links are expected to be false"
    if len(kept) <= false:
        bound = "; how many of them may be false cannot be bounded" if kept else ""
    return (
        f"{len(kept)} of the {len(ours)} links {'recurs' if len(kept) == 1 else 'recur'} in at least "
        f"{stability['threshold']:.0%} of {stability['n_halves']} fits to half of the rows{bound}."
    )


def _too_little(record: Record) -> str:
    """Why there are no tests, without their arithmetic, which is shown with the links."""
    m, rows = len(record.names), record.fit["effective_rows"][0]
    if rows < 3 * (m + 1):
        return f"{record.fit['n_rows_used']} rows are too few to test {m} variables against each other"
    return "the links could not be tested one by one"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."


def _strongest(record: Record) -> str:
    if not record.edges:
        several = len(record.path["graphs"]) > 1
        return "In the report, the slider under the picture shows which links would come first." if several else ""
    links, tested, names = _links(record), _tested(record), _short_names(record)
    named = [
        f"{names[i]} and {names[j]} ({signed(strength)}{_unshrunk(strength, tested.get((i, j)))})"
        for i, j, strength in links.strongest(3)
    ]
    among = " of the clear links" if links.clear and len(links.clear) < len(record.edges) else ""
    strongest = f"Strongest{among}: {', '.join(named)}. " if named else ""
    positive = sum(1 for edge in record.edges if edge[3] > 0)
    negative = len(record.edges) - positive
    verb = "moves" if positive == 1 else "move"
    signs = f"{positive} of the linked pairs {verb} together (+) and {negative} in opposite directions (−)"
    if not positive or not negative:
        which = "together (+)" if positive else "in opposite directions (−)"
        signs = f"All linked pairs move {which}" if len(record.edges) > 1 else f"The two move {which}"
    return f"{strongest}{signs}."


def _unshrunk(strength: float, test: list[Any] | None) -> str:
    """The estimate without shrinkage, where the link's own strength is outside its interval."""
    if test is None or None in test[2:5] or test[3] <= strength <= test[4]:
        return ""
    return f"; {signed(test[2])} without shrinkage"


def _short_names(record: Record) -> list[str]:
    """Names that do not fill the line but stay different, and do nothing else to a terminal either."""
    return [visible(name) for name in cut_names(record.names, _LONGEST_NAME)]


def _about_rows(record: Record) -> str:
    fit = record.fit
    used, given = fit["n_rows_used"], fit["n_rows"]
    left = given - used
    complete = f" {left} incomplete {'row was' if left == 1 else 'rows were'} left out." if left else ""
    if fit["share_dropped"] is not None:
        dropped = round(fit["share_dropped"] * used)
        if not dropped:
            return f"All {used} rows fit together; none was left out.{complete}"
        verbs = "does not fit the others and is" if dropped == 1 else "do not fit the others and are"
        return f"{dropped} of {used} rows ({dropped / used:.1%}) {verbs} left out.{complete}"
    if fit["n_blocks"] > 1:
        return (
            f"The {used} rows are weighted by a geometric median of {fit['n_blocks']} blocks, with an effective sample "
            f"size of {fit['effective_rows'][0]:.0f}.{complete}"
        )
    return f"Classic score matching: all {used} rows have the same weight, bad ones too.{complete}"


def about_flagged(record: Record) -> str:
    """How many rows stand out, and why that differs from the number of rows that are left out, where it does."""
    rows, used = record.rows, record.fit["n_rows_used"]
    flagged, dropped = rows["n_flagged"], rows.get("n_dropped")
    tested = any(row["p_value"] is not None for row in rows["listed"])
    who = f"{flagged} of {used} rows {'stands' if flagged == 1 else 'stand'} out"
    parts = [f"{who}: too unlikely in the model to belong with the others."]
    if not flagged:
        parts = [f"None of the {used} rows stands out from the others."]
    elif dropped is not None and 0 < dropped < flagged:
        parts = [
            f"{who}: {dropped} {'is' if dropped == 1 else 'are'} left out, and {flagged - dropped} "
            f"{'is' if flagged - dropped == 1 else 'are'} unusual but kept."
        ]
    elif dropped is not None and dropped == flagged:
        parts = [f"{who} and {'is' if flagged == 1 else 'are'} left out."]
    elif dropped == 0:
        parts = [f"{who} as unusual, but {'is' if flagged == 1 else 'are'} kept."]
    if tested and flagged:
        parts.append(f"At most {rows['level']:.0%} of good rows would stand out so.")
    first = rows.get("first", 1)
    parts.append(f"Rows are numbered from {first}" + (", the first below the names." if first else ", as in Python."))
    full = "counts in full" if record.fit["share_dropped"] is not None else "is the average"
    parts.append(f"A row of weight 1 {full}, one of weight 0 is left out.")
    if len(rows["listed"]) < flagged:
        parts.append(f"The first {len(rows['listed'])} are listed.")
    return " ".join(parts)


def about_fit(record: Record) -> str:
    """Whether the model fits, in a sentence or two."""
    check = record.check
    if check is None or check["verdict"] is None:
        why = "" if check is None else f" {_sentence(check['why_not'])}"
        return f"Whether the {family_name(record)} model fits could not be checked.{why}"
    p_value = "beyond measure" if check["p_value"] is None else describe_p_value(check["p_value"])
    if check["verdict"] == "fits":
        what = "every pair of variables" if _is_latent(record) else "every variable given the others"
        return f"As far as the rows can tell, the {family_name(record)} model fits {what} ({p_value})."
    worst_first = sorted(range(len(check["columns"])), key=lambda k: _p_of(check["columns"][k]))
    names = _short_names(record)
    missed = [names[k] for k in worst_first if check["columns"][k][3]]
    where = f" It misses {first_few(missed)}." if missed else " No single variable stands out."
    return (
        f"The {family_name(record)} model does not describe the data exactly ({p_value}), so some links may only "
        f"reflect what it misses.{where}"
    )


def _p_of(column: list[Any]) -> float:
    return 0.0 if column[2] is None else float(column[2])


def describe_p_value(p_value: float) -> str:
    """A p-value to two digits, and none that is smaller than anybody would believe.

    Examples
    --------
    >>> describe_p_value(0.0213), describe_p_value(4e-82)
    ('p = 0.021', 'p < 0.0001')
    """
    return "p < 0.0001" if p_value < 1e-4 else f"p = {p_value:.2g}"


def _about_kinds(record: Record) -> str:
    """What the variables are, where not all are measurements, and what is associated, where that is not they."""
    kinds = f"The variables: {record.kinds['words']}." if record.kinds is not None and _is_mixed(record) else ""
    return " ".join(words for words in (kinds, _LATENT if _is_latent(record) else "") if words)


def _is_latent(record: Record) -> bool:
    return record.fit["family"].startswith("GaussianCopula(")  # whatever its kinds and rules


def _is_mixed(record: Record) -> bool:
    return record.kinds is not None and any(kind not in _MEASUREMENTS for kind, _ in record.kinds["columns"])


def _about_family(record: Record) -> str:
    why = record.fit.get("why_family")
    agreement = record.fit.get("agreement")
    return f"The model: {family_name(record)}, {why}{f'; {agreement}' if agreement else ''}." if why else ""


def family_name(record: Record) -> str:
    """The name of the family, as people write it: square-root for SquareRoot()."""
    family = record.fit["family"]
    return _FAMILIES.get("GaussianCopula()" if _is_latent(record) else family, family)


def _compared(record: Record) -> str:
    if record.fit.get("classic_is_same"):
        return "All rows have the same weight, so classic score matching gives the same graph."
    if record.classic is None:
        return ""
    m = len(record.names)
    ours = {i * m + j for i, j, _, _ in record.edges}
    position = next(k for k, graph in enumerate(record.path["graphs"]) if graph["position"] == record.path["chosen"])
    theirs = set(record.classic["graphs"][record.classic["beside"][position]]["pairs"])
    if not ours and not theirs:
        return "Classic score matching, which counts every row equally, finds nothing either."
    if ours == theirs:
        return "Classic score matching, which counts every row equally, finds the same links."
    start = "Classic score matching, which counts every row equally,"
    if not theirs:
        return f"{start} finds none."
    size, shared = f"{len(theirs)} {'link' if len(theirs) == 1 else 'links'}", len(ours & theirs)
    if not ours:
        return f"{start} finds {size}."
    of_ours = f"{shared or 'none'} of these {len(ours)} links" if len(ours) > 1 else "this link" if shared else "others"
    return f"{start} finds {of_ours} among its {size}."


def methods(record: Record) -> str:
    """A paragraph for the methods section of a paper, without references: what was done, all from the record."""
    steps = _data_used, _model_fitted, _rows_weighted, _penalty_chosen, _certainty_judged, _software_used
    return " ".join(sentence for step in steps if (sentence := step(record)))


def citation(record: Record) -> str:
    """What to cite."""
    return CITATION.format(version=record.version)


def _data_used(record: Record) -> str:
    fit = record.fit
    used = f"{fit['n_rows_used']} complete rows of {fit['n_rows']}"
    if fit["n_rows_used"] == fit["n_rows"]:
        used = f"{fit['n_rows']} rows"
    is_scaled = record.settings.get("scale") == "median" and not _is_latent(record)
    scaled = ", scaled by robust deviations" if is_scaled else ""
    kinds = f" ({record.kinds['words']})" if record.kinds is not None and _is_mixed(record) else ""
    return f"We learnt a sparse graph of {len(record.names)} variables{kinds} from {used}{scaled}."


def _model_fitted(record: Record) -> str:
    why = record.fit.get("why_family")
    chosen = f" ({why})" if why else ""
    to = " to latent normal numbers, drawn within the intervals that values stand for,"
    return (
        f"The model was a {family_name(record)} graphical model{chosen}, fitted{to if _is_latent(record) else ''} by "
        f"generalised score matching{'' if _rule(record) == 'fdr' else ' with an l1 penalty on the interactions'}."
    )


def _rows_weighted(record: Record) -> str:
    fit = record.fit
    if fit["share_dropped"] is not None:
        dropped = round(fit["share_dropped"] * fit["n_rows_used"])
        some = f"{dropped} rows ({fit['share_dropped']:.1%}) received weight zero" if dropped else "no row was left out"
        return f"Rows were weighted by how well they agree with the others, and {some}."
    if fit["n_blocks"] > 1:
        return f"Elements were averaged by the geometric median of {fit['n_blocks']} block means."
    return "All rows had the same weight."


def _penalty_chosen(record: Record) -> str:
    settings, fit, rule = record.settings, record.fit, _rule(record)
    edges = f"{len(record.edges)} edge{'' if len(record.edges) == 1 else 's'}"
    if rule == "fdr":
        return f"No penalty was chosen: the graph was estimated {fit['selection']}; it has {edges}."
    if settings.get("alpha") is not None:
        how = "was given"
    elif settings.get("n_edges") is not None:
        how = f"was chosen to give {settings['n_edges']} edges"
    else:
        how = f"was chosen among {len(record.path['alphas'])} values by {_RULES.get(rule, rule)}"
    return f"The penalty (alpha = {fit['alpha']:.4g}) {how}; the graph has {edges}."


def _rule(record: Record) -> str:
    """The rule that chose the graph; empty where a penalty or a number of edges was given."""
    settings = record.settings
    if settings.get("alpha") is not None or settings.get("n_edges") is not None:
        return ""
    rule = settings.get("select", "f1")
    return str(rule[0] if isinstance(rule, list) and rule else rule)


def _certainty_judged(record: Record) -> str:
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


def _software_used(record: Record) -> str:
    libraries = ", ".join(f"{name} {version}" for name, version in record.libraries.items())
    return f"Computed with robscore {record.version} ({libraries}), seed {record.settings.get('random_state')}."
