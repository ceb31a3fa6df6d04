"""Which texts have an order? Yes and no, answers such as never ... always, school grades, ranges; English and German.

A column of text is read as numbers 0, 1, ... in the order of its words where all of them are on one scale. Scales go
from the least to the most; spellings of one level have a bar between them. Capitals, hyphens, slashes and points do not
matter, and ae, oe, ue are as good as umlauts. Two different words on one level of a scale would have to be told apart,
so a column that has both is not read by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise

import numpy as np

from robscore._tools.typing import Array

_MOST_LEVELS = 25  # different texts: no scale has more
_TWO_SIDED = (
    # the negative end, the positive end
    *("disagree; agree", "dissatisfied|unsatisfied; satisfied", "unlikely; likely", "unimportant; important"),
    *("difficult|hard; easy", "disapprove; approve", "oppose; support|favor|favour", "negative; positive"),
    *("unhappy; happy", "worse; better", "false; true", "uncomfortable; comfortable", "unsafe; safe"),
    *("unzufrieden; zufrieden", "unwichtig; wichtig", "unwahrscheinlich; wahrscheinlich", "schwierig; einfach"),
    *("negativ; positiv", "ungluecklich; gluecklich", "schlechter; besser", "falsch; richtig|wahr"),
    *("dagegen; dafuer", "unsicher; sicher"),
)
_STRENGTHS = (  # from the strongest
    "extremely|completely|totally|fully|absolutely|aeusserst|voellig|absolut|vollkommen",
    "very|strongly|highly|definitely|much|a lot|sehr|stark",
    "",
    "mostly|moderately|generally|quite|ziemlich|ueberwiegend",
    "somewhat|rather|fairly|partly|tend to|eher",
    "slightly|a little|mildly|a bit|etwas|leicht",
)
_BETWEEN = (
    "neutral|neither|undecided|unsure|not sure|no change|unchanged|about the same|the same|same|weder noch|teils teils|"
    "unentschieden|gleich|unveraendert"
)
_FREQUENCY = (
    "never|at no time; almost never|hardly ever|very rarely|very seldom; rarely|seldom|infrequently; "
    "occasionally|now and then|once in a while; sometimes; often|frequently|regularly; very often|very frequently; "
    "usually|mostly|most of the time; almost always|nearly always; always|all the time|constantly"
)
_HAEUFIGKEIT = (
    "nie|niemals; fast nie|sehr selten; selten; gelegentlich|ab und zu|hin und wieder; manchmal; oft|haeufig|oefter; "
    "sehr oft|sehr haeufig; meistens|meist; fast immer; immer|stets|staendig"
)
_SCALES = (
    # two values
    *("no|n; maybe|perhaps|possibly; yes|y", "nein|n; vielleicht; ja|j", "false|f; true|t", "off; on", "aus; ein|an"),
    *("absent|not present; present", "nicht vorhanden; vorhanden", "failed|fail; passed|pass"),
    *("incorrect|wrong; correct|right", "unchecked|not checked|not selected; checked|selected", "abnormal; normal"),
    *("dead|deceased; alive", "tot|verstorben; lebend|lebt", "non smoker|nonsmoker; smoker"),
    *("nichtraucher; raucher", "female|f|woman|women|girl; male|m|man|men|boy", "weiblich|w|frau; maennlich|m|mann"),
    # how often
    *(_FREQUENCY, _HAEUFIGKEIT, "never; former|formerly|ex|past; current|currently"),
    "never; less than once a year; yearly|annually|once a year; less than once a month|less than monthly|"
    "several times a year|a few times a year; monthly|once a month; several times a month|a few times a month; "
    "weekly|once a week; several times a week|a few times a week; daily|every day|once a day; several times a day",
    "nie|niemals; seltener als einmal im jahr; jaehrlich|einmal im jahr|einmal pro jahr; seltener als einmal im monat|"
    "mehrmals im jahr|mehrmals pro jahr; monatlich|einmal im monat|einmal pro monat; mehrmals im monat|"
    "mehrmals pro monat; woechentlich|einmal pro woche|einmal in der woche; mehrmals pro woche|mehrmals in der woche; "
    "taeglich|jeden tag|einmal am tag; mehrmals taeglich|mehrmals am tag",
    # how much
    "not at all|not; hardly|a little|slightly|a little bit|a bit|very little|only a little; somewhat|moderately|"
    "to some extent|partly; quite a bit|fairly|quite|considerably|mostly; very|very much|a lot|a great deal|highly; "
    "extremely|completely|totally",
    "gar nicht|ueberhaupt nicht|nicht; kaum|ein wenig|wenig|etwas; teilweise|mittelmaessig|maessig|einigermassen; "
    "ziemlich|ueberwiegend; sehr|stark|voll; aeusserst|voellig",
    "lowest; very low|extremely low; low; rather low|medium low|lower middle|moderately low; "
    "medium|middle|moderate|average|intermediate|mid|normal; rather high|medium high|upper middle|moderately high; "
    "high; very high|extremely high; highest",
    "sehr niedrig|sehr gering; niedrig|gering|tief; eher niedrig|eher gering; mittel|durchschnittlich|normal; "
    "eher hoch; hoch; sehr hoch",
    "none; few; some; many; most; all",
    "keine|keiner; wenige; einige; viele; die meisten; alle",
    "not at all; not; slightly|a little|somewhat; ; very|highly; extremely",  # for a word that all share
    "gar nicht|ueberhaupt nicht; nicht; etwas|eher; ; sehr; aeusserst|extrem",
    # how bad
    "none|no|absent|no symptoms; minimal|very mild; mild|slight|light; moderate|medium; severe|marked|heavy; "
    "very severe|extreme",
    "keine|kein|keiner; minimal|sehr leicht; leicht|gering; mittel|maessig|mittelschwer|moderat; "
    "schwer|stark|ausgepraegt; sehr schwer|sehr stark",
    # how good
    "terrible|awful; very poor|very bad; poor|bad; below average; fair|ok|okay|satisfactory|acceptable; average; "
    "above average; good; very good; excellent|outstanding",
    "ungenuegend|nicht genuegend; mangelhaft; ausreichend|genuegend; befriedigend; gut; sehr gut; "
    "ausgezeichnet|hervorragend",
    "sehr schlecht; schlecht; weniger gut; maessig|mittelmaessig|mittel|zufriedenstellend|weder noch|teils teils; gut; "
    "sehr gut; ausgezeichnet|hervorragend",
    "f; d-; d; d+; c-; c; c+; b-; b; b+; a-; a; a+",
    # agreement in German
    "stimme ueberhaupt nicht zu|stimme gar nicht zu|lehne stark ab|lehne voellig ab|lehne voll und ganz ab|"
    "trifft ueberhaupt nicht zu|trifft gar nicht zu; stimme nicht zu|lehne ab|trifft nicht zu; "
    "stimme eher nicht zu|lehne eher ab|trifft eher nicht zu|trifft kaum zu|trifft weniger zu; "
    "teils teils|weder noch|neutral|unentschieden|trifft teilweise zu|stimme teilweise zu|teilweise; "
    "stimme eher zu|trifft eher zu; stimme zu|trifft zu; stimme stark zu|trifft voll zu|stimme voll zu|"
    "stimme voll und ganz zu|stimme voellig zu|trifft voll und ganz zu|trifft voellig zu|trifft genau zu",
    # sizes, stages, places in a row
    "xxs; xs|extra small|very small|tiny; s|small; m|medium; l|large|big; xl|extra large|very large|huge; xxl; xxxl",
    "sehr klein; klein; mittel|mittelgross; gross; sehr gross",
    *("i; ii; iii; iv; v; vi", "first|1st; second|2nd; third|3rd; fourth|4th; fifth|5th", "young; middle aged; old"),
    "no education; primary|elementary; lower secondary; secondary|high school; upper secondary; bachelor|bachelors; "
    "master|masters; phd|doctorate",
    "keine ausbildung; primarschule|grundschule; sekundarschule|hauptschule; realschule; gymnasium|abitur|matura; "
    "hochschule|universitaet",
    *("frozen; cold; cool; lukewarm; warm; hot; very hot", "very slow; slow; fast; very fast", "junior; senior"),
)
_NOT_ALONE = {  # words that are names of groups, too, unless some of these are in the column
    "f; d-": ("f", "d-", "d+", "c-", "c+", "b-", "b+", "a-", "a+"),
    "i; ii": ("ii",),
}
_NON_ANSWERS = (
    "dont know|do not know|dk|dont know cant say|cant say|no answer|no opinion|not applicable|refused|declined|unknown|"
    "prefer not to say|prefer not to answer|rather not say|weiss nicht|weiss ich nicht|keine angabe|keine angaben|"
    "keine antwort|keine meinung|unbekannt|nicht zutreffend|k a"
)
_NUMBERED = re.compile(r"^[\[(]?\s*([+-]?\d{1,3})\s*[\])]?\s*[-–=:.)\]]?\s+\D|^([+-]?\d{1,3})\s*[=:]\s*\D")
_NUMBER = r"[$€£]?\s*(\d[\d,.' ]*)\s*(?:k|[$€£%]|\w{0,9})?"
_RANGE = re.compile(rf"^{_NUMBER}\s*(?:-|–|to|bis)\s*{_NUMBER}$")
_BELOW = re.compile(rf"^(?:<|<=|≤|under|below|less than|up to|unter|bis|weniger als|bis zu)\s*{_NUMBER}$")
_ABOVE = re.compile(
    rf"^(?:(?:>|>=|≥|over|above|more than|ueber|mehr als|ab)\s*{_NUMBER}|{_NUMBER}\s*(?:\+|and over|and more|or more|"
    "and older|or older|and above|or above|und mehr|und aelter|und darueber|oder mehr|oder aelter))$"
)


def order_of(texts: Iterable[object], *, any_two: bool = False) -> tuple[str, ...]:
    """Return the different texts of a column in their order, the least first; empty where they have none.

    With ``any_two`` two different texts that are on no scale have the order of the alphabet: of two values the order
    only decides on signs.

    Examples
    --------
    >>> order_of(["often", "never", "Sometimes", "never"]), order_of(["Ja", "nein"])
    (('never', 'Sometimes', 'often'), ('nein', 'Ja'))
    >>> order_of(["red", "blue"]), order_of(["red", "blue"], any_two=True), order_of(["18-29", "65+", "30-64"])
    ((), ('blue', 'red'), ('18-29', '30-64', '65+'))
    """
    given = list(dict.fromkeys(str(text) for text in texts))
    if not 2 <= len(given) <= _MOST_LEVELS:
        return ()
    plain = [_plain(text) for text in given]
    found = _on_a_scale(plain) or _numbered(given) or _in_ranges(given)
    if found is None and any_two and len(given) == 2:
        found = [float(text != min(given)) for text in given]
    if found is None:
        return ()
    return tuple(given[k] for k in np.argsort(found, kind="stable"))


def non_answers(texts: Iterable[str]) -> list[str]:
    """Return the texts that mean that nobody answered, where the others have an order.

    Examples
    --------
    >>> non_answers(["never", "often", "Don't know"]), non_answers(["red", "blue", "Don't know"])
    (["Don't know"], [])
    """
    given = sorted(set(texts))
    beside = [text for text in given if _plain(text) in _NON_ANSWERS.split("|")]
    return beside if order_of(text for text in given if text not in beside) else []


def codes(cells: Sequence[object], levels: Sequence[str]) -> Array:
    """Return the place of every cell among the levels, NaN where it is none of them.

    Examples
    --------
    >>> codes(["yes", None, "no"], ["no", "yes"]).tolist()
    [1.0, nan, 0.0]
    """
    place = {level: float(k) for k, level in enumerate(levels)}
    return np.array([np.nan if cell is None else place.get(str(cell), np.nan) for cell in cells])


def _plain(text: str) -> str:
    """A text without capitals, umlauts and punctuation, but for signs after a grade."""
    lower = text.casefold()
    for umlaut, letters in (("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("’", ""), ("'", "")):
        lower = lower.replace(umlaut, letters)
    if re.fullmatch(r"\s*[a-f]\s*[+-]\s*", lower):
        return re.sub(r"\s", "", lower)
    return " ".join(re.sub(r"[^\w+<>≤≥]|_", " ", lower).split())


@cache
def scales() -> tuple[dict[str, int], ...]:
    """Return all scales, as the place of every spelling on each."""
    written = [[level.strip().split("|") for level in scale.split(";")] for scale in _SCALES]
    return tuple(_places(scale) for scale in (*written, *(_two_sided(*ends.split("; ")) for ends in _TWO_SIDED)))


def _places(scale: Sequence[Sequence[str]]) -> dict[str, int]:
    return {word: k for k, words in enumerate(scale) for word in words}


def _two_sided(negative: str, positive: str) -> list[list[str]]:
    """Levels from "extremely" at the negative end over neutral to "extremely" at the positive one."""
    low, high = negative.split("|"), positive.split("|")

    def side(ends: Sequence[str]) -> list[list[str]]:
        return [
            [
                spelled
                for word in words.split("|")
                for end in ends
                for spelled in dict.fromkeys((f"{word} {end}".strip(), f"{end} {word}".strip()))
            ]
            for words in _STRENGTHS
        ]

    both = [f"{neither} {a} {nor} {b}" for a in (*low, *high) for b in (*low, *high) if a != b
            for neither, nor in (("neither", "nor"), ("neither", "or"), ("weder", "noch"))]  # fmt: skip
    return [*side(low), [*_BETWEEN.split("|"), *both], *reversed(side(high))]


def _on_a_scale(texts: Sequence[str]) -> list[float] | None:
    """The places of texts on the first scale that has all of them, each on a level of its own."""
    for words in (texts, _without_shared_word(texts)):
        for scale in scales() if words else ():
            if not all(word in scale for word in words):
                continue
            required = next((need for start, need in _NOT_ALONE.items() if _begins(scale, start)), ())
            levels = [float(scale[word]) for word in words]
            if (not required or any(word in required for word in words)) and len(set(levels)) == len(levels):
                return levels
    return None


def _begins(scale: dict[str, int], start: str) -> bool:
    return list(scale)[:2] == start.split("; ")


def _without_shared_word(texts: Sequence[str]) -> list[str]:
    """Texts without the last word, where all share it: not at all useful, very useful; none where they do not."""
    if len({text.rsplit(" ", 1)[-1] for text in texts}) > 1:
        return []
    return [text.rpartition(" ")[0] for text in texts]


def _numbered(texts: Sequence[str]) -> list[float] | None:
    """The numbers that texts such as "1 = never" begin with, where all do, each with its own."""
    found = [_NUMBERED.match(text.strip()) for text in texts]
    numbers = [float(match[1] or match[2]) for match in found if match]
    return numbers if len(set(numbers)) == len(texts) else None


def _in_ranges(texts: Sequence[str]) -> list[float] | None:
    """Where ranges of numbers begin, such as 18-29, 30-64, 65+, where they do not overlap and one has both ends."""
    ranges = [_range(text.strip().casefold().replace("ü", "ue").replace("ä", "ae")) for text in texts]
    known = sorted(one for one in ranges if one is not None)
    if len(known) < len(texts) or not any(np.isfinite(one).all() for one in known):
        return None
    if any(low > high for low, high in known) or any(a[1] > b[0] for a, b in pairwise(known)):
        return None
    return [one[0] for one in ranges if one is not None]


def _range(text: str) -> tuple[float, float] | None:
    if match := _RANGE.match(text):
        return _value(match[1]), _value(match[2])
    if match := _BELOW.match(text):
        return -np.inf, _value(match[1])
    if match := _ABOVE.match(text):
        return _value(match[1] or match[2]), np.inf
    return None


def _value(text: str) -> float:
    """A number in a range; signs between groups of three digits do not matter, as long as they are alike."""
    digits = re.sub(r"[,.' ](?=\d{3}(\D|$))", "", text.strip())
    try:
        return float(digits.replace(",", "."))
    except ValueError:
        return np.nan
