"""Who is sent elsewhere: by a Hub that is not one, and by this page, which sends nobody anywhere."""

import pytest

from explorer.errors import ModelRefused, ModelUnavailable
from explorer.models import download
from explorer.models.visitor_card import visitor_card
from tests.hostile.small_page import API
from tests.models.hub_server import Repository
from tests.models.small_models import contents


@pytest.fixture
def repository(hub, bert_folder, monkeypatch) -> Repository:
    monkeypatch.setattr(download, "PAUSE_SECONDS", 0.0)
    hub.repositories["people/small"] = Repository(contents(bert_folder), commit="a" * 40)
    return hub.repositories["people/small"]


@pytest.mark.parametrize(
    "where",
    [
        "{hub}/people/small/resolve/main/config.json", "/people/small/resolve/main/config.json", "file:///etc/passwd",
        "http://127.0.0.1:1/", "https://127.0.0.1:1/", "ftp://127.0.0.1/x", "http://[", "", "http://a b/", "//",
        "javascript:alert(1)", "\xff",
    ],
    ids=repr,
)  # fmt: skip
@pytest.mark.timeout(60)
def test_a_hub_that_sends_elsewhere_is_told_of_and_not_followed_for_ever(hub, repository, log, where):
    repository.moved["config.json"] = where.format(hub=hub.url)
    with pytest.raises((ModelRefused, ModelUnavailable), match="people/small") as caught:
        visitor_card("people/small")
    assert "127.0.0.1" not in str(caught.value)
    assert len(hub.sent) < 60
    assert "fault" not in log()


@pytest.mark.parametrize(
    "path",
    [
        "//evil.example", "//evil.example/", "/\\evil.example/", f"{API}//evil.example/", f"{API}/info/", "/config/",
        "/theme.css/", "/https://evil.example/", "/%2f%2fevil.example/", "/?__theme=//evil.example", "/%0d%0aX: y/",
    ],
)  # fmt: skip
def test_the_page_sends_nobody_elsewhere(http, path):
    answer = http.get(http.base_url.copy_with(raw_path=path.encode()))
    assert not answer.is_redirect or answer.headers["location"].startswith(str(http.base_url))
    assert "x" not in answer.headers
