"""A child that answers at once, or works for ever where it is asked to be slow; it loads nothing."""

import json
import os
import sys
import time


def work(request):
    os.chdir(request["folder"])
    say({"step": "pretending", "done": 1, "total": 2, "left": 7.0})
    if ["slow", ""] in request["options"]:
        write("half", "half")
        time.sleep(1000)
    if ["wrong", ""] in request["options"]:
        say({"error": "wrong"})
        return
    if ["killed", ""] in request["options"]:
        os.kill(os.getpid(), 9)
    os.mkdir("results")
    for name in ("report.html", "edges.csv"):
        write(f"results/{name}", request["called"])
    write("answer.json", json.dumps({"notes": [request["data"]]}))
    say({"over": True})


def say(what):
    print(json.dumps(what), flush=True)


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


if __name__ == "__main__" and (line := sys.stdin.readline()):
    work(json.loads(line))
