"""ELMo's files at their own address: what arrives, what answers in their place, and what is done with damaged ones."""

from dataclasses import replace

import pytest

from explorer.errors import ModelRefused, ModelUnavailable
from explorer.models import download
from explorer.models.card import Ability, LocalFolder, ModelCard, PublishedFile, PublishedFiles
from explorer.models.folders import published_folder
from explorer.models.loading import load_model
from explorer.models.presence import is_here
from explorer.models.progress import ignore
from tests.models.hub_server import LOGIN_PAGE
from tests.models.small_models import EVAL, make_card

OPTIONS, WEIGHTS = "options.json", "lm_weights.hdf5"


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(download, "PAUSE_SECONDS", 0.0)


@pytest.fixture
def files() -> dict[str, bytes]:
    """Of a tiny ELMo."""
    fixture = EVAL / "elmo_fixture"
    if not fixture.is_dir():
        pytest.skip("needs the evaluation data: set EXPLORER_EVAL_DATA to its folder")
    pytest.importorskip("h5py")
    return {file: (fixture / file).read_bytes() for file in (OPTIONS, WEIGHTS)}


def publish(hub, files: dict[str, bytes]) -> None:
    hub.published = {f"/elmo/small/{name}": content for name, content in files.items()}


def card_of(hub, files: dict[str, bytes], *, sizes_known: bool, **facts) -> ModelCard:
    published = tuple(PublishedFile(name, len(files[name]) if sizes_known else None, **facts) for name in files)
    return make_card(
        source=PublishedFiles(f"{hub.url}/elmo/small/", published),
        model_type="elmo",
        abilities=frozenset({Ability.EMBED}),
    )


def load(card: ModelCard, progress=ignore):
    return load_model(card, device="cpu", progress=progress)


@pytest.mark.parametrize("sizes_known", [False, True])
def test_elmo_from_its_published_files(hub, files, sizes_known):
    publish(hub, files)
    card, reports = card_of(hub, files, sizes_known=sizes_known), []
    model = load(card, reports.append)
    assert type(model.network).__name__ == "ElmoModel"
    assert {report.what for report in reports} == {"downloading", "loading"}
    asked = len(hub.sent)
    load(card)
    assert len(hub.sent) == asked
    with pytest.raises(ModelUnavailable, match=r"answered with an error \(404\)"):
        load(replace(card, source=replace(card.source, base_url=f"{hub.url}/elmo/other/")))


@pytest.mark.parametrize(("sizes_known", "says_length"), [(False, True), (True, True), (True, False)])
@pytest.mark.parametrize("replaced", [OPTIONS, WEIGHTS])
def test_a_login_page_is_not_kept_for_elmo(hub, files, replaced, sizes_known, says_length):
    """It was, and ELMo was broken until somebody deleted it."""
    publish(hub, {**files, replaced: LOGIN_PAGE if says_length else LOGIN_PAGE * len(files[replaced])})
    hub.says_length = says_length
    card = card_of(hub, files, sizes_known=sizes_known)
    for _ in range(2):
        with pytest.raises(ModelUnavailable, match="something else answers in place of its server, such as the login"):
            load(card)
        assert not (published_folder(card.source) / replaced).exists() and not is_here(card)
    publish(hub, files)
    assert type(load(card).network).__name__ == "ElmoModel"


def test_another_checksum_than_the_cards_is_refused(hub, files):
    publish(hub, files)
    card = card_of(hub, files, sizes_known=True, sha256="0" * 64)
    with pytest.raises(ModelRefused, match="are not the published ones"):
        load(card)
    assert not is_here(card)


@pytest.mark.parametrize("damaged", [OPTIONS, WEIGHTS])
def test_what_cannot_be_read_is_deleted_and_comes_anew(hub, files, damaged):
    broken = b'{"lstm": {}}' if damaged == OPTIONS else files[WEIGHTS][: len(files[WEIGHTS]) // 2]
    publish(hub, {**files, damaged: broken})
    card = card_of(hub, files, sizes_known=False)
    with pytest.raises(ModelRefused, match="could not be read, and was deleted. Ask again to download it anew"):
        load(card)
    assert not is_here(card)
    publish(hub, files)
    assert type(load(card).network).__name__ == "ElmoModel"


def test_what_somebody_put_there_himself_is_not_deleted(files, tmp_path):
    for name, content in files.items():
        (tmp_path / name).write_bytes(content[: len(content) // 2])
    card = make_card(source=LocalFolder(str(tmp_path)), model_type="elmo", abilities=frozenset({Ability.EMBED}))
    with pytest.raises(ModelRefused, match=OPTIONS):
        load(card)
    assert {path.name for path in tmp_path.iterdir()} == {OPTIONS, WEIGHTS}


def test_one_above_the_limit_is_refused_and_stays(hub, files, set_settings):
    publish(hub, files)
    card = replace(card_of(hub, files, sizes_known=True), parameters=10**6)
    load(card)
    set_settings(largest_model_gib=0.001)
    with pytest.raises(ModelRefused, match="loads models of at most"):
        load(card)
    assert is_here(card)
