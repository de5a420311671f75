"""The page, where a blank is filled once a line comes on the standard input, and one text is at work for ever.

It is slow, too: Gradio, if it asks, finds that it cannot reach the page. And the environment names a proxy that is not
there.
"""

import os
import sys

from gradio import networking

import app
from explorer import analysis
from explorer.tabs import leaving

ENDLESS = "endless"
fill_blanks = analysis.fill_blanks


def fill(model, text, **options):
    import torch

    print("at work", flush=True)
    while ENDLESS in text:
        torch.mm(torch.ones(300, 300), torch.ones(300, 300))
    sys.stdin.readline()
    return fill_blanks(model, text, **options)


if __name__ == "__main__":
    analysis.fill_blanks = fill
    networking.url_ok = lambda url: False
    os.environ["HTTP_PROXY"] = "http://127.0.0.1:9"  # where nobody listens
    leaving.GRACE_SECONDS = 120  # whoever tests it ends it before
    app.main()
