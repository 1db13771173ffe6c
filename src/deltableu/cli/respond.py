"""`deltableu respond`."""

from __future__ import annotations

from deltableu.cli.options import subcommands

respond = subcommands("respond", "Make baseline systems respond to the items of a study.")

respond.command(
    "deltableu.cli.respond_run:run",
    name="run",
    help=(
        "Respond to each item of a study with a baseline, as one more system.\n\n"
        "deltableu respond run STUDY --kind c-bm25 --logs logs/ -o STUDY/outputs/c-bm25.jsonl. "
        "Items without a response are named and left out of the file; --missing of the commands "
        "that read it says what becomes of them."
    ),
)
respond.command(
    "deltableu.cli.respond_train:train",
    name="train",
    # Its first line stands in the list of commands, for which torch is not looked for.
    help=(
        "Train a neural responder on logs, to evaluate it.\n\n"
        "deltableu respond train logs/ -o responder.safetensors, or with --kind vhred; then "
        "deltableu respond run STUDY --kind model --model responder.safetensors. A GRU with "
        "attention reads the message (and, where logs name threads and --turns says so, turns "
        "before it), another one writes the response (Bahdanau et al. 2015); VHRED adds a latent "
        "variable for each response (Serban et al. 2017). Whole threads are held out, and the "
        "parameters that foresee them best are kept. After a few steps it says how long the rest "
        "takes."
    ),
)
