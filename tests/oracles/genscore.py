"""Reference values from the R package genscore, and the families they belong to."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np

import robscore as rs

_FAMILIES = {
    "sqrt_pow": rs.families.SquareRoot,
    "sqrt_minpow": rs.families.SquareRoot,
    "gamma": rs.families.Gamma,
    "truncated_gaussian": rs.families.TruncatedGaussian,
    "ab_a1.5_b0.5": lambda **options: rs.families.Power(1.5, 0.5, **options),
    "log_log": rs.families.LogLog,
    "gaussian_R": rs.families.Gaussian,
    "sqrt_two_intervals": rs.families.SquareRoot,
    "simplex_log_log": rs.families.Simplex,
    "simplex_sum0": lambda **options: rs.families.Simplex(zero_sums=True, **options),
}
NAMES = list(_FAMILIES)


@cache
def case(name):
    path = Path(__file__).with_name("genscore_a.json")
    (found,) = (c for c in json.loads(path.read_text())["cases"] if c["name"] == name)
    return found


def family(name):
    found = case(name)
    options = {}
    if found["h"]:
        kind, *numbers = found["h"]
        weight = {"pow": rs.boundary.Power, "min_pow": rs.boundary.CappedPower}[kind]
        options["boundary"] = weight(*(float(number) for number in numbers))
    if "intervals" in found:
        options["domain"] = rs.domains.Intervals(found["intervals"])
    return _FAMILIES[name](**options)


def data(name):
    return np.array(case(name)["x"], dtype=float)


def averaged_elements(name):
    """genscore's averages in our layout: Gamma (m, m+1, m+1) and g (m, m+1)."""
    found = case(name)
    m = len(found["g_eta"])
    K = np.array(found["Gamma_K"], dtype=float)
    K_eta = np.array(found["Gamma_K_eta"], dtype=float)
    eta = np.ravel(found["Gamma_eta"]).astype(float)
    gamma = np.empty((m, m + 1, m + 1))
    for j in range(m):
        shared = found.get("shared_block", False)
        gamma[j, :m, :m] = K if shared else K[:, j * m : (j + 1) * m]
        gamma[j, :m, m] = gamma[j, m, :m] = K_eta.ravel() if shared else K_eta[:, j]
        gamma[j, m, m] = eta[0] if shared else eta[j]
    g = np.column_stack([np.array(found["g_K"], dtype=float).T, np.ravel(found["g_eta"])])
    return gamma, g


def coupling(name):
    """genscore's averages of what couples each node with the last, in our layout: (m-1, m+1, m+1)."""
    found = case(name)
    m = len(found["g_eta"])
    K_K, K_eta, eta_K = (np.array(found[key], dtype=float) for key in ("Gamma_K_jp", "Gamma_Kj_etap", "Gamma_Kp_etaj"))
    last = np.empty((m - 1, m + 1, m + 1))
    for j in range(m - 1):
        last[j, :m, :m] = K_K[:, j * m : (j + 1) * m]
        last[j, :m, m] = K_eta[:, j]
        last[j, m, :m] = eta_K[:, j]
        last[j, m, m] = found["Gamma_eta_jp"][j]
    return last


def penalty_options(name):
    """On the simplex genscore weighs the last component's penalties by m - 1."""
    if not name.startswith("simplex"):
        return {}
    m = len(case(name)["g_eta"])
    W, w = np.ones((m, m)), np.ones(m)
    W[-1, :] = W[:, -1] = w[-1] = m - 1
    return {"penalty_weights": W, "location_weights": w}
