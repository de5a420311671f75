"""Downloads from a Hub-shaped server on loopback: what arrives, what is refused, what is said when it fails."""

import hashlib
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from huggingface_hub import constants

from explorer.errors import ModelRefused, ModelUnavailable
from explorer.models import download, hub_errors
from explorer.models.card import HubRepository
from explorer.models.hub import check_id, find_cached, list_files
from explorer.models.hub import download as download_model
from explorer.models.progress import ignore
from tests.models.hub_server import LOGIN_PAGE, Repository
from tests.models.small_models import make_card

COMMIT = "c" * 40
WEIGHTS = bytes(range(256)) * 4096  # 1 MiB


CARD = make_card(source=HubRepository(id="people/small", revision=COMMIT))


@pytest.fixture
def repository(hub) -> Repository:
    files = {"config.json": b'{"model_type": "bert"}', "vocab.txt": b"[PAD]\nthe\n", "model.safetensors": WEIGHTS}
    files |= {"README.md": b"about", "pytorch_model.bin": b"pickle", "tf_model.h5": b"h5", "onnx/model.onnx": b"onnx"}
    hub.repositories["people/small"] = Repository(files)
    return hub.repositories["people/small"]


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(download, "PAUSE_SECONDS", 0.0)


def starts_of_downloads(hub) -> list[int]:
    """From which byte each download of the weights started."""
    path = f"/store/{hashlib.sha256(WEIGHTS).hexdigest()}"
    return [sent.start for sent in hub.sent if sent.path == path]


def test_only_what_is_needed_is_downloaded_and_only_once(hub, repository):
    reports = []
    folder = download_model(CARD, reports.append)
    assert {path.name for path in folder.iterdir()} == {"config.json", "vocab.txt", "model.safetensors"}
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS
    assert folder.name == COMMIT
    done = [report.done_bytes for report in reports]
    assert done == sorted(done) and len(done) > 4
    assert {report.total_bytes for report in reports} == {done[-1]} == {len(WEIGHTS) + 22 + 10}
    assert {report.what for report in reports} == {"downloading"}
    asked = len(hub.sent)
    assert download_model(CARD, ignore) == folder
    assert len(hub.sent) == asked, "what is here is not asked for again"


def test_the_cache_is_the_one_that_other_programs_use(hub, repository):
    from huggingface_hub import hf_hub_download

    folder = download_model(CARD, ignore)
    found = hf_hub_download("people/small", "model.safetensors", revision=COMMIT, local_files_only=True)
    assert Path(found) == folder / "model.safetensors"


def test_a_branch_is_pinned_to_what_it_was_at_the_first_download(hub, repository):
    card = replace(CARD, source=HubRepository("people/small", "main"))
    folder = download_model(card, ignore)
    repository.commit = "d" * 40
    assert download_model(card, ignore) == folder
    assert folder.name == COMMIT


def test_a_cut_download_continues_where_it_stopped(hub, repository):
    repository.cuts["model.safetensors"] = [300_000, 400_000]
    folder = download_model(CARD, ignore)
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS
    assert starts_of_downloads(hub) == [0, 300_000, 700_000]
    assert hub.sent_bytes("model.safetensors") == len(WEIGHTS), "nothing was sent twice"


def test_a_download_that_failed_continues_at_the_next_click(hub, repository, monkeypatch):
    monkeypatch.setattr(download, "FRUITLESS_ATTEMPTS", 2)
    repository.cuts["model.safetensors"] = [500_000, 0, 0]
    with pytest.raises(ModelUnavailable, match="cut while Small BERT was downloaded.*continues where it stopped"):
        download_model(CARD, ignore)
    folder = download_model(CARD, ignore)
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS
    assert starts_of_downloads(hub) == [0, 500_000, 500_000, 500_000]
    assert hub.sent_bytes("model.safetensors") == len(WEIGHTS)


def test_a_stopped_download_continues_too(hub, repository):
    class Stopped(Exception):
        pass

    def stop(progress):
        if progress.done_bytes > 200_000:
            raise Stopped

    with pytest.raises(Stopped):
        download_model(CARD, stop)
    download_model(CARD, ignore)
    assert starts_of_downloads(hub)[1] > 100_000


def test_a_login_page_in_the_middle_of_a_download_costs_nothing_of_it(hub, repository):
    repository.cuts["model.safetensors"] = [500_000, LOGIN_PAGE]
    with pytest.raises(ModelUnavailable, match="something else answers in place of its server"):
        download_model(CARD, ignore)
    folder = download_model(CARD, ignore)
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS
    assert starts_of_downloads(hub)[-1] == 500_000


def test_bytes_that_are_not_the_published_ones_are_thrown_away(hub, repository):
    repository.sha256["model.safetensors"] = "0" * 64
    with pytest.raises(ModelRefused, match="Small BERT are not the published ones.*should be 000000000000"):
        download_model(CARD, ignore)
    assert find_cached(CARD.source, "safetensors") is None
    repository.sha256.clear()
    assert download_model(CARD, ignore).name == COMMIT


def test_other_weights_than_the_card_promises_are_not_even_downloaded(hub, repository):
    with pytest.raises(ModelRefused, match="not those of its card.*should be 111111111111"):
        download_model(replace(CARD, weights_sha256="1" * 64), ignore)
    assert hub.sent_bytes("model.safetensors") == 0


def test_missing(hub):
    with pytest.raises(ModelUnavailable, match="The Hub has no public model people/small"):
        download_model(CARD, ignore)


def test_a_revision_that_is_gone(hub, repository):
    with pytest.raises(ModelUnavailable, match="no longer has the pinned revision"):
        download_model(replace(CARD, source=HubRepository("people/small", "e" * 40)), ignore)


def test_gated(hub, repository, set_settings):
    repository.gated = True
    with pytest.raises(ModelUnavailable, match="is gated.*HF_TOKEN"):
        download_model(CARD, ignore)
    set_settings(hub_token=1)  # a token without the agreement: the files themselves are refused
    with pytest.raises(ModelUnavailable, match="is gated"):
        download_model(CARD, ignore)
    assert hub.sent_bytes("model.safetensors") == 0


def test_the_operators_token_is_used_only_where_it_is_allowed(hub, repository, set_settings, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    list_files("people/small", "main")
    set_settings(hub_token=1)
    list_files("people/small", "main")
    assert [sent.authorization for sent in hub.sent] == [None, "Bearer hf_secret"]
    download_model(CARD, ignore)
    assert {sent.authorization for sent in hub.sent if sent.path.startswith("/store/")} == {None}, "another host"


def test_a_server_in_trouble(hub, repository):
    repository.status = 503
    with pytest.raises(ModelUnavailable, match=r"answered with an error \(503\).*Try again"):
        download_model(CARD, ignore)


def test_no_connection(hub, repository):
    hub.shutdown()
    hub.server_close()
    with pytest.raises(ModelUnavailable, match="cannot be reached: check the network"):
        download_model(CARD, ignore)


def test_offline_is_said_at_once_unless_the_model_is_here(hub, repository, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelUnavailable, match="needs internet, which is off here"):
        download_model(CARD, ignore)
    assert hub.sent == []
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    folder = download_model(CARD, ignore)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert download_model(CARD, ignore) == folder


def test_too_large_is_refused_before_anything_is_downloaded(hub, repository, set_settings):
    repository.sizes_bytes["model.safetensors"] = 9 * 2**30
    with pytest.raises(ModelRefused, match=r"takes 9\.0 GiB.*at most 6\.0 GiB"):
        download_model(CARD, ignore)
    assert {sent.path.partition("?")[0] for sent in hub.sent} == {f"/api/models/people/small/revision/{COMMIT}"}
    set_settings(largest_model_gib=0.0001)
    repository.sizes_bytes.clear()
    with pytest.raises(ModelRefused, match="takes 1 MiB.*at most 105 KiB"):
        download_model(CARD, ignore)


def test_pickled_weights_only_where_the_card_allows_them(hub, repository):
    del repository.files["model.safetensors"]
    with pytest.raises(ModelRefused, match=r"only in the pickle format \(\.bin\)"):
        download_model(CARD, ignore)
    assert len(hub.sent) == 1
    folder = download_model(replace(CARD, weights_format="bin"), ignore)
    assert (folder / "pytorch_model.bin").read_bytes() == b"pickle"


def test_a_card_that_allows_pickled_weights_still_takes_safe_ones(hub, repository):
    folder = download_model(
        replace(CARD, weights_format="bin", weights_sha256="1" * 64), ignore
    )  # checksum of the .bin
    assert (folder / "model.safetensors").exists() and not (folder / "pytorch_model.bin").exists()


def test_shards(hub, repository):
    del repository.files["model.safetensors"]
    shards = [f"model-0000{n}-of-00002.safetensors" for n in (1, 2)]
    repository.files |= {"model.safetensors.index.json": b"{}", shards[0]: b"first"}
    with pytest.raises(ModelRefused, match="pickle"):
        download_model(CARD, ignore)
    repository.files[shards[1]] = b"second"
    folder = download_model(CARD, ignore)
    assert {path.name for path in folder.glob("model*")} == {"model.safetensors.index.json", *shards}
    (folder / shards[1]).unlink()
    assert find_cached(CARD.source, "safetensors") is None, "half a model is not a model"


def test_a_repository_without_a_tokenizer_is_refused(hub, repository):
    del repository.files["vocab.txt"]
    with pytest.raises(ModelRefused, match="no config.json or no tokenizer"):
        download_model(CARD, ignore)


def test_a_full_disk_is_said_before_and_during_the_download(hub, repository, monkeypatch):
    usage = download.shutil.disk_usage(".")
    with monkeypatch.context() as patch:
        patch.setattr(download.shutil, "disk_usage", lambda path: usage._replace(free=2**20))
        with pytest.raises(ModelUnavailable, match="not enough room.*disk for Small BERT"):
            download_model(CARD, ignore)
    with pytest.raises(ModelUnavailable, match="not enough room"), hub_errors.explained("Small BERT"):
        raise OSError(28, "No space left on device", "/home/somebody/.cache")


def test_a_login_page_in_place_of_the_hub(hub, repository):
    repository.login_page = True
    with pytest.raises(ModelUnavailable, match="such as the login page of a network"):
        download_model(CARD, ignore)


def test_faults_are_not_explained_away():
    with pytest.raises(FileNotFoundError), hub_errors.explained("Small BERT"):
        raise FileNotFoundError("a fault of ours")


@pytest.mark.parametrize(
    "id",
    ["../../etc/passwd", "/etc", "a/b/c", "..", ".", "", "people/..", "C:\\models", "a/<b>", "a\0b", "a--b", "x" * 97,
     "people/small.git", "http://127.0.0.1/people/small", "people/small?x=1", " ", "ä/b"],
)  # fmt: skip
def test_what_is_no_name_of_a_repository_never_leaves_this_machine(hub, id):
    with pytest.raises(ModelRefused, match="is not the name of a Hub model"):
        check_id(id)
    with pytest.raises(ModelRefused):
        list_files(id, "main")
    with pytest.raises(ModelRefused):
        download_model(replace(CARD, source=HubRepository(id, COMMIT)), ignore)
    assert hub.sent == []


def test_messages_hold_no_path_and_no_address(hub, repository, tmp_path):
    cut = {"model.safetensors": [0] * 9}
    for change in ({"status": 500}, {"gated": True, "status": 200}, {"gated": False, "cuts": cut}):
        for name, value in change.items():
            setattr(repository, name, value)
        with pytest.raises(ModelUnavailable) as caught:
            download_model(CARD, ignore)
        assert str(tmp_path) not in str(caught.value) and "127.0.0.1" not in str(caught.value)


def test_another_process_with_nothing_but_environment_variables(hub, repository, tmp_path):
    """The way it really runs: HF_ENDPOINT and HF_HOME, and no torch to download."""
    program = f"""
import sys
from explorer.models.card import HubRepository, ModelCard
from explorer.models.hub import download
card = ModelCard("Small", HubRepository("people/small", "{COMMIT}"), "bert", frozenset(), "", "", "", "")
print(download(card, print))
print("torch" in sys.modules)
"""
    environment = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home"), "PATH": ""}
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, cwd=root, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    *_, folder, has_torch = done.stdout.split()
    assert (Path(folder) / "model.safetensors").read_bytes() == WEIGHTS
    assert has_torch == "False"
