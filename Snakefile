"""The book, from the corpus to the page: corpus → replay | measure → draw → site.

Digests decide whether a run is done again, never the age of a file: see engine/schedule.py.

    snakemake --cores all                             what is out of date
    snakemake --cores all -n                          what that would be, and why
    snakemake --cores all --forceall                  everything, measured anew
    snakemake --cores all --config settings=smoke     every experiment in seconds, in build/smoke
    snakemake --cores all --config device=cpu         or auto (cuda, then mps, then cpu), cuda, mps
"""

import os, sys
from snakemake.cli import get_argument_parser

os.environ["MEDIDA_SETTINGS"] = config.get("settings", os.environ.get("MEDIDA_SETTINGS", "full"))
os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
os.environ["NO_MKDOCS_2_WARNING"] = "1"
from engine.schedule import BUILD, RESULTS, SITE, contents, drawings, figures, prepare

ASKED, _ = get_argument_parser().parse_known_args()
BOOK = prepare(config, main=workflow.is_main_process, dry=ASKED.dryrun, forceall=ASKED.forceall)


rule all:
    input:
        SITE + "/404.html",
        [BUILD + "/checked.txt"] if BOOK.settings == "full" else [],


rule corpus:
    output:
        BUILD + "/corpus.txt",
    shell:
        "python -m model.corpus > {output}"


rule measure:
    input:
        BUILD + "/plan/{run}.token",
        ancient(lambda wildcards: BOOK.source(wildcards.run)),
        lambda wildcards: BOOK.needs(wildcards.run),
    output:
        update(RESULTS + "/{run}.json"),
    wildcard_constraints:
        run=BOOK.runs_of("measure"),
    threads: lambda wildcards: BOOK.threads(wildcards.run)
    resources:
        gpu=lambda wildcards: BOOK.gpu(wildcards.run),
    params:
        first="",
        why=lambda wildcards: BOOK.why(wildcards.run),
    message:
        "measure {wildcards.run}: {params.why}"
    shell:
        "{params.first} python -m experiments run {wildcards.run} --device {BOOK.device}"


use rule measure as replay with:
    wildcard_constraints:
        run=BOOK.runs_of("replay"),
    params:
        first=f"python -m experiments replay {{run}} --attest --device {BOOK.device} && exit || [ $? -eq 3 ] || exit 1;",
        why=lambda wildcards: BOOK.why(wildcards.run),
    message:
        "replay {wildcards.run}: {params.why}"


rule rehearse:  # small settings: all in one process, for PyTorch takes longer to import than to run
    input:
        BOOK.rehearsed(BUILD + "/plan/{run}.token"),
    output:
        [update(record) for record in BOOK.rehearsed(RESULTS + "/{run}.json")],
    message:
        "rehearse {BOOK.due}"
    shell:
        "python -m experiments run {BOOK.due} --device {BOOK.device} && touch {output}"


rule draw:
    input:
        lambda wildcards: BOOK.records_in(wildcards.figure),
        lambda wildcards: contents(wildcards.figure, f"figures/{wildcards.figure}.py"),
        contents("drawing", "figures/*.py", "engine/number.py", "web/palette.json", but=figures()),
        ancient("web/node_modules/.package-lock.json"),  # the fonts
    output:
        drawings("{figure}"),
    message:
        "draw {wildcards.figure}"
    shell:
        "python -m figures draw {wildcards.figure}"


rule packages:
    input:
        contents("packages", "web/package*.json"),
    output:
        "web/node_modules/.package-lock.json",
    shell:
        "npm --prefix web ci --no-audit --no-fund --loglevel error"


rule web:
    input:
        rules.packages.output,
        contents("web", "web/*.*", "web/css/*", "web/src/*"),
    output:
        "build/web/assets/book.css",
        "build/web/assets/book.js",
    shell:
        "npm --prefix web run --silent build"


rule check:
    input:
        BOOK.records(),
        BOOK.text,
    output:
        BUILD + "/checked.txt",
    message:
        "check records, claims and text"
    shell:
        "python -m engine check > {output}"


# The old site stays readable until the new one is whole; 404.html stands for either.
rule site:
    input:
        BOOK.records(),
        BOOK.text,
        rules.web.output,
        [drawings(figure) for figure in figures()],
    output:
        SITE + "/404.html",
    message:
        "build the site"
    shell:
        "rm -rf {BUILD}/fresh && mkdocs build --quiet --strict --site-dir {BUILD}/fresh"
        " && rm -rf {SITE} && mv {BUILD}/fresh {SITE}"
