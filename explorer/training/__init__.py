"""How the bundled models were made: corpus, windows, masks, objective, loop, report."""
