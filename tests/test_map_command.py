"""The command that puts uses on a map."""

import json


def test_maps_in_the_shell(explorer, tmp_path, shipped_registry):
    file = tmp_path / "uses.tsv"
    file.write_text("a\tThey {play} the piano.\nb\tA play in three acts.\na\tWe play a song.\n", encoding="utf-8")
    status, out, _ = explorer("project-occurrences", "play", "-s", str(file), "--layer", "0", "--layer", "6")
    assert status == 0 and "layer 6" in out and "trustworthiness" in out and "A {play} in three acts." in out
    status, out, _ = explorer("project-occurrences", "play", "-s", str(file), "--method", "umap", "--json")
    drawn = json.loads(out)
    assert status == 0 and drawn["maps"]["method"] == "pca" and "UMAP needs at least 5 uses" in drawn["remarks"][0]
    assert [len(drawn["maps"]["coordinates"]), len(drawn["maps"]["coordinates"][0])] == [7, 3]
    status, out, err = explorer("project-occurrences", "play", "-s", str(file), "--dimensions", "4")
    assert (status, out) == (1, "") and "dimensions must be 2 or 3" in err
